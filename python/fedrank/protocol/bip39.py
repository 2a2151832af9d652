"""A digest as words that can be read out by telephone, as BIP-39 writes 32 bytes.

The list, ``bip39.txt``, has 2,048 English words that differ in their first four letters.
``bip39.LICENSE`` says where it comes from. Nothing else of BIP-39 is used here: these words are a
public digest, and no key.
"""

import hashlib
from functools import cache
from pathlib import Path

BITS = 11  # per word


@cache
def word_list() -> tuple[str, ...]:
    """Return all words, in turn.

    Examples
    --------
    >>> len(word_list()), word_list()[:3]
    (2048, ('abandon', 'ability', 'able'))
    """
    text = Path(__file__).with_name("bip39.txt").read_text(encoding="ascii")
    return tuple(text.split())


def digest_words(digest: bytes) -> tuple[str, ...]:
    """Return 24 words for 32 bytes: their bits and a checksum of eight, eleven bits per word.

    Examples
    --------
    >>> digest_words(bytes(32))[22:]
    ('abandon', 'art')
    """
    bits = int.from_bytes(digest + hashlib.sha256(digest).digest()[:1])
    words = word_list()
    return tuple(words[bits >> BITS * place & len(words) - 1] for place in reversed(range(24)))
