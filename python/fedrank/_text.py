"""Text on its way out: made fit to be shown, its width, its plural, and rows of it as CSV."""

import csv
import io
from collections.abc import Iterable
from unicodedata import east_asian_width


def printable(value: object) -> str:
    r"""Text in one line, without codes that a terminal would obey.

    Examples
    --------
    >>> printable("a\x1b[31mb\n c")
    'a�[31mb c'
    """
    line = " ".join(str(value).split())
    return "".join(char if char.isprintable() else "�" for char in line)


def width_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: one per letter, two per wide letter.

    Examples
    --------
    >>> width_of("abc"), width_of("日本")
    (3, 4)
    """
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def noun(count: int, one: str, many: str | None = None) -> str:
    """Return a noun in the singular or the plural, whichever goes with a count.

    Examples
    --------
    >>> noun(1, "item"), noun(0, "item"), noun(2, "entry", "entries")
    ('item', 'items', 'entries')
    """
    return one if count == 1 else many or f"{one}s"


def as_csv(rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows as CSV.

    Examples
    --------
    >>> as_csv([["place", "item"], [1, "Ann, jr."]])
    'place,item\n1,"Ann, jr."\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
