"""The labels of a study's items: what JSON can write and tell apart."""

import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import groupby

import numpy as np

from fedrank._validation import check_items
from fedrank.exceptions import InputError

SHOWN = 3  # labels or groups of them that are named
MIXED = {"CYRILLIC", "GREEK", "LATIN"}  # scripts with letters that look the same
TWINS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧονι",
    "ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXovi",
)
"""Cyrillic and Greek letters, and the Latin ones that they look like."""


def as_labels(items: Iterable[Hashable], n: int) -> tuple[str | int, ...]:
    """Check labels: JSON must be able to tell them apart.

    Examples
    --------
    >>> as_labels(["a", np.int64(2)], 2)
    ('a', 2)
    """
    labels: list[str | int] = []
    for label in check_items(items, n):
        if isinstance(label, bool) or not isinstance(label, str | int | np.integer):
            raise InputError(
                f"the item labels of a study must be text or whole numbers, not {label!r}",
                value=label,
            )
        labels.append(label if isinstance(label, str) else int(label))
    return tuple(labels)


def is_writable(text: object) -> bool:
    r"""Return whether UTF-8 can write a text.

    Examples
    --------
    >>> is_writable("Zoë"), is_writable("\ud800")
    (True, False)
    """
    try:
        str(text).encode()
    except UnicodeEncodeError:
        return False
    return True


def look_alikes(labels: Iterable[object]) -> list[str]:
    r"""Say which labels people may take for one another, or for what they are not.

    Examples
    --------
    >>> look_alikes(["TP53", "EGFR", "TNF-α"])
    []
    >>> look_alikes(["Zoe\u0308", "Zo\xeb"])[0][:43]
    "These labels look the same, but are not: 'Z"
    """
    texts = [label for label in labels if isinstance(label, str)]
    groups: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        groups[skeleton(text)].append(text)
    same = [" and ".join(map(ascii, each)) for each in groups.values() if len(each) > 1]
    mixed = [ascii(text) for text in texts if is_mixed(text)]
    said = []
    if same:
        said.append(f"These labels look the same, but are not: {some(same)}.")
    if mixed:
        said.append(f"These labels mix letters of several alphabets in a word: {some(mixed)}.")
    return said


def skeleton(text: str) -> str:
    """Return what a text looks like: normalized, without marks that nobody sees, in Latin letters.

    Examples
    --------
    >>> skeleton("ТР53") == "TP53"  # the first has Cyrillic letters
    True
    """
    seen = unicodedata.normalize("NFKC", text).translate(TWINS)
    seen = "".join(char for char in seen if unicodedata.category(char) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen).split())


def is_mixed(text: str) -> bool:
    """Return whether a word of a text has letters of several alphabets that look alike.

    Examples
    --------
    >>> is_mixed("TР53"), is_mixed("ТР53"), is_mixed("IFN-γ")  # the first has a Cyrillic letter
    (True, False, False)
    """
    for letters, word in groupby(text, str.isalpha):
        if letters and len({script(char) for char in word} & MIXED) > 1:
            return True
    return False


def script(char: str) -> str:
    """Return the script of a letter, as its name begins."""
    return unicodedata.name(char, "").partition(" ")[0]


def some(texts: list[str]) -> str:
    """Name the first of several texts, and say how many more there are."""
    more = f", and {len(texts) - SHOWN:,} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more
