"""Files are written whole or not at all."""

import os

import pytest

from fedrank._files import whole_file, whole_folder, write_whole
from fedrank.exceptions import InputError


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


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
def test_a_secret_is_readable_by_its_owner_only(tmp_path):
    path = tmp_path / "a.key"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with whole_file(path, mode=0o600) as file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o600  # before a byte is written
        file.write(b"new")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("sync", [False, True])
def test_an_earlier_file_is_kept_where_it_must_not_be_replaced(tmp_path, sync):
    path = tmp_path / "a.txt"
    write_whole(path, b"first", sync=sync, replace=False)
    with pytest.raises(FileExistsError) as caught:
        write_whole(path, b"second", sync=sync, replace=False)
    assert caught.value.filename == os.fspath(path)
    assert path.read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_file_and_name_are_synced_to_the_disk_in_this_order(tmp_path, monkeypatch):
    synced = []
    path = tmp_path / "a.txt"
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.exists()))
    write_whole(path, b"new")
    assert synced == []
    path.unlink()
    write_whole(path, b"new", sync=True)
    assert synced == [False, True]  # the content before it has its name, then the name


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_folder_is_there_whole_or_not_at_all(tmp_path, failure):
    path = tmp_path / "app"
    with pytest.raises(type(failure)), whole_folder(path) as folder:  # noqa: PT012
        write_whole(folder / "a.txt", b"half")
        raise failure
    assert list(tmp_path.iterdir()) == []
    with whole_folder(path, mode=0o700) as folder:
        write_whole(folder / "a.txt", b"all of it")
        assert not path.exists()
    assert (path / "a.txt").read_bytes() == b"all of it"
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o700
    with pytest.raises(ValueError, match="app: the folder exists already"), whole_folder(path):
        pass
    with pytest.raises(ValueError, match="there is no folder"), whole_folder(tmp_path / "b" / "c"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "a.csv"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="only a regular file can be replaced"):
        write_whole(pipe, b"new")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
