"""A digest is read out as BIP-39 writes 32 bytes."""

import hashlib
from pathlib import Path

import pytest

import fedrank.protocol.bip39 as spoken
from fedrank import Borda, Study
from fedrank.protocol.bip39 import digest_words, word_list

# Of https://github.com/trezor/python-mnemonic/blob/master/vectors.json, all with 32 bytes.
VECTORS = [
    ("00" * 32, "abandon " * 23 + "art"),
    (
        "7f" * 32,
        "legal winner thank year wave sausage worth useful " * 2
        + "legal winner thank year wave sausage worth title",
    ),
    (
        "80" * 32,
        "letter advice cage absurd amount doctor acoustic avoid " * 2
        + "letter advice cage absurd amount doctor acoustic bless",
    ),
    ("ff" * 32, "zoo " * 23 + "vote"),
    (
        "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
        "hamster diagram private dutch cause delay private meat slide toddler razor book happy "
        "fancy gospel tennis maple dilemma loan word shrug inflict delay length",
    ),
    (
        "9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863",
        "panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol "
        "speed nation flash devote level hobby quick inner drive ghost inside",
    ),
]


@pytest.mark.parametrize(("digest", "words"), VECTORS)
def test_words_are_those_of_the_published_vectors(digest, words):
    assert " ".join(digest_words(bytes.fromhex(digest))) == words


def test_the_list_is_the_published_one():
    published = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
    text = Path(spoken.__file__).with_name("bip39.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == published
    assert len({word[:4] for word in word_list()}) == 2048


def test_a_study_is_read_out_as_its_digest():
    study = Study(Borda(2, 3))
    assert study.words == digest_words(bytes.fromhex(study.digest))
    assert study.words != Study(Borda(2, 4)).words
