"""Identities in files: the private one for its owner only, the public one to send."""

import os
import pickle

import pytest

from fedrank import Borda, Study
from fedrank.exceptions import InputError
from fedrank.protocol.identity import (
    PRIVATE_START,
    Identity,
    load_public,
    public_identity,
    save_public,
)
from helpers.identities import PARTIES, keys_of, line_of

NORTH = PARTIES[0]


def test_a_private_key_comes_back_from_its_file(tmp_path):
    NORTH.save(tmp_path / "north.key")
    again = Identity.load(tmp_path / "north.key")
    assert (again, again.public, again.fingerprint) == (NORTH, NORTH.public, NORTH.fingerprint)
    assert again != PARTIES[1]


@pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
def test_a_private_key_is_for_its_owner_only(tmp_path):
    file = tmp_path / "north.key"
    NORTH.save(file)
    assert file.stat().st_mode & 0o777 == 0o600
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        with pytest.raises(ValueError, match=r"other users can read .* chmod 600"):
            Identity.load(file)


def test_a_private_key_is_never_replaced(tmp_path):
    NORTH.save(tmp_path / "north.key")
    with pytest.raises(FileExistsError):
        PARTIES[1].save(tmp_path / "north.key")
    assert Identity.load(tmp_path / "north.key") == NORTH


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"fedrank-key1:AAAA", b"north x"])
def test_what_is_no_private_key_is_refused(tmp_path, content):
    file = tmp_path / "north.key"
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"north\.key: "):
        Identity.load(file)


def test_a_private_key_is_not_shown_or_pickled(tmp_path):
    NORTH.save(tmp_path / "north.key")
    secret = (tmp_path / "north.key").read_text().strip().removeprefix("fedrank-key1:")
    for shown in (repr(NORTH), str(NORTH), NORTH.public):
        assert secret[:20] not in shown
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(NORTH)


@pytest.mark.parametrize("name", ["north", "St. Mary's  ward", "Zoë 日本"])
def test_a_public_identity_comes_back_with_its_name(tmp_path, name):
    name = " ".join(name.split())
    save_public(tmp_path / "a.pub", name, NORTH.public)
    assert (tmp_path / "a.pub").read_text(encoding="utf-8") == f"{name} {NORTH.public}\n"
    assert load_public(tmp_path / "a.pub") == (name, NORTH.public)


def test_a_public_file_is_never_replaced(tmp_path):
    save_public(tmp_path / "a.pub", "north", NORTH.public)
    with pytest.raises(FileExistsError):
        save_public(tmp_path / "a.pub", "east", PARTIES[1].public)
    assert load_public(tmp_path / "a.pub") == ("north", NORTH.public)


@pytest.mark.parametrize("text", ["north\t%s", "\ufeffnorth  %s\r\n\n", "\n north %s"])
def test_public_files_that_mail_programs_changed_are_read(tmp_path, text):
    (tmp_path / "a.pub").write_text(text % NORTH.public, encoding="utf-8", newline="")
    assert load_public(tmp_path / "a.pub") == ("north", NORTH.public)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "one line"),
        (b"\xff\xfe", "not text"),
        (NORTH.public.encode(), "one line: a name"),
        (f"a {NORTH.public}\nb {NORTH.public}".encode(), "one line"),
        (f"a\x1b[8m {NORTH.public}".encode(), "one line"),
        (b"north fedrank-id1:AAAA", "damaged or incomplete"),
        (f"north {NORTH.public[:-1]}".encode(), "damaged or incomplete"),
        (f"north {line_of(keys_of(NORTH.public)[0], bytes(32))}".encode(), "weak"),
        (b"north fedrank-key1:AAAA", r"private key, which must stay .* ends in \.pub"),
    ],
)
def test_what_is_no_public_identity_is_refused(tmp_path, content, message):
    (tmp_path / "a.pub").write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.pub: .*{message}"):
        load_public(tmp_path / "a.pub")


def test_a_public_line_must_be_text():
    with pytest.raises(ValueError, match="public line of text, not bytes"):
        public_identity(NORTH.public.encode())


def test_a_private_line_in_the_place_of_a_public_one_is_not_repeated():
    secret = NORTH._core.line()
    body = secret.removeprefix(PRIVATE_START)
    method, others = Borda(2, 3), {"b": PARTIES[1], "c": PARTIES[2]}
    names = ["a", "b", "c"]
    asked = [
        public_identity,
        lambda line: Study(method, None, {"a": line} | others, None, PARTIES[3]),
        lambda line: Study(method, None, {"a": NORTH} | others, None, line),
        lambda line: Study(method, None, names, None, line),
    ]
    as_names = [
        lambda line: Study(method, None, line),
        lambda line: Study(method, None, [line, "b", "c"]),
        lambda line: Study(method, None, {line: NORTH} | others, None, PARTIES[3]),
    ]
    given = (secret, f" {secret}\n", body, secret[:40], secret.upper(), secret.encode())
    for make, line in [(make, line) for make in asked for line in given] + [
        (make, line) for make in as_names for line in (secret, f"north {secret}")
    ]:
        with pytest.raises(InputError) as caught:
            make(line)
        for told in (str(caught.value), repr(caught.value), repr(vars(caught.value))):
            assert body[:20].lower() not in told.lower()
    for make in (*asked[:3], *as_names):
        with pytest.raises(
            InputError, match=r"this is a private key; pass its public line \(\.pub"
        ):
            make(secret)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_public_file_in_the_place_of_a_private_one_is_called_so(tmp_path, mode):
    save_public(tmp_path / "north.pub", "north", NORTH.public)
    (tmp_path / "north.pub").chmod(mode)
    with pytest.raises(InputError, match=r"north\.pub: this is the public file; name the \.key"):
        Identity.load(tmp_path / "north.pub")


def test_a_private_key_is_no_study():
    with pytest.raises(InputError, match="this is a private key, not a study; name") as caught:
        Study.from_json(NORTH._core.line())
    assert NORTH._core.line()[:25] not in repr(vars(caught.value))
