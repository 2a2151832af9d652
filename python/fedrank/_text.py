"""Text that may come from data, made fit to be shown, and rows of it as CSV."""

import csv
import io
from collections.abc import Iterable


def printable(value: object) -> str:
    r"""Text in one line, without codes that a terminal would obey.

    Examples
    --------
    >>> printable("a\x1b[31mb\n c")
    'a�[31mb c'
    """
    line = " ".join(str(value).split())
    return "".join(char if char.isprintable() else "�" for char in line)


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
