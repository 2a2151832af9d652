"""Tidy tables: CSV files that are always whole."""

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from fedrank._files import write_whole
from fedrank.experiments.figure import Row


def save(path: Path, rows: Sequence[Row]) -> None:
    """Write rows, whose columns are those of the first."""
    lines = [list(rows[0]), *([row[column] for column in rows[0]] for row in rows)]
    text = "".join(",".join(cell(value) for value in line) + "\n" for line in lines)
    write_whole(path, text.encode())


def cell(value: object) -> str:
    """Text of one value, quoted where a comma is in it.

    Examples
    --------
    >>> cell(0.1), cell("a, b"), cell(3)
    ('0.1', '"a, b"', '3')
    """
    text = repr(value) if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


def load(path: Path) -> list[Row]:
    """Read rows, numbers as numbers; none if there is no such file, or it is damaged."""
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (csv.Error, UnicodeDecodeError):
        return []
    if any(None in row or None in row.values() for row in rows):  # ragged
        return []
    return [{name: value(text) for name, text in row.items()} for row in rows]


def value(text: str) -> int | float | str:
    """Tell numbers from words.

    Examples
    --------
    >>> value("3"), value("0.5"), value("e")
    (3, 0.5, 'e')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def matching(rows: Iterable[Row], columns: Row) -> list[Row]:
    """Return the rows that have these values in these columns."""
    return [row for row in rows if all(row.get(name) == v for name, v in columns.items())]


def writable(folder: Path) -> None:
    """Make the folder, and refuse one that is not writable before any work is done."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"the folder {folder} is not writable: choose another folder")
