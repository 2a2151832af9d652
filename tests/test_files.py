"""Files are written whole or not at all."""

import os

import pytest

from fedrank._files import whole_file, write_whole


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_failure_leaves_everything_as_it_was(tmp_path, before, failure):
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(type(failure)), whole_file(path) as file:  # noqa: PT012
        file.write(b"half")
        raise failure
    found = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert found == ({} if before is None else {"a.txt": before})


def test_an_error_names_the_file_and_not_its_part(tmp_path):
    path = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(path, b"new")
    assert caught.value.filename == os.fspath(path)


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link.txt"
    target.write_bytes(b"old")
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]
