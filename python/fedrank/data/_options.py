"""What a caller declares about a file, and which options belong to which layout."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from fedrank.data._text import PathLike, shown_name
from fedrank.exceptions import InputError

TABLES = ("ranks", "scores", "orders", "long")
"""Layouts of tables that are read alike."""

LAYOUTS = (*TABLES, "preflib", "sushi", "jester", "ballots", "expression")
"""All layouts."""

OWNERS = {
    "genes": "expression",
    "genes_in": "expression",
    "ties": "expression",
    "items": "ballots",
    "choices": "ballots",
    "overvote": "ballots",
    "keep_blank": "ballots",
}
"""The layout that each option of a single reader belongs to."""

USERS = {
    "best": ("ranks", "scores", "long"),
    "id_columns": TABLES,
    "items_in": ("ranks", "scores"),
    "header": TABLES,
    "decimal": TABLES,
}
"""The layouts that each option of tables is for."""


class TableOptions(TypedDict, total=False):
    """Types of the options of tables, for the overloads of readers."""

    layout: str | None
    best: str | None
    id_columns: str | Iterable[str]
    items_in: str | None
    header: bool | None
    decimal: str | None


class BallotOptions(TypedDict, total=False):
    """Types of the options of ballots."""

    items: Sequence[str] | None
    choices: Sequence[str] | None
    overvote: str
    keep_blank: bool


class ReadOptions(TableOptions, BallotOptions, total=False):
    """Types of the options of all layouts; the ones named here are those of expression tables."""

    genes: PathLike | Iterable[str] | None
    genes_in: str | None
    ties: str


@dataclass(frozen=True)
class Declared:
    """What a caller says about a table; None is for what the whole file must show.

    Examples
    --------
    >>> Declared(best="low").layout
    'scores'
    >>> Declared(layout="orders", items_in="rows")
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: items_in is for the layouts ranks, scores, not for orders
    """

    layout: str | None = None
    best: str | None = None
    id_columns: tuple[str, ...] = ()
    items_in: str | None = None
    header: bool | None = None
    decimal: str | None = None
    by: str | None = None  # a column names the party of each row, which is a ranking

    def __post_init__(self) -> None:
        one_of("layout", self.layout, LAYOUTS)
        one_of("best", self.best, ("low", "high"))
        one_of("items_in", self.items_in, ("rows", "columns"))
        if self.header not in (None, True, False):
            raise InputError(
                f"must be True or False, not {self.header!r}",
                parameter="header",
                value=self.header,
            )
        if self.decimal not in (None, ".", ","):
            raise InputError(
                f'must be "." or ",", not {self.decimal!r}',
                parameter="decimal",
                value=self.decimal,
            )
        object.__setattr__(self, "id_columns", as_columns(self.id_columns))
        if self.layout is None and self.best is not None:
            object.__setattr__(self, "layout", "scores")
        for option in self.given():
            layouts = USERS.get(option)
            if layouts and self.layout is not None and self.layout not in layouts:
                raise InputError(
                    f"is for the layouts {', '.join(layouts)}, not for {self.layout}",
                    parameter=option,
                    value=getattr(self, option),
                )

    @property
    def sign(self) -> str:
        """The decimal sign: a point, unless something else is declared."""
        return self.decimal or "."

    def given(self) -> dict[str, Any]:
        """Return the options that are not at their defaults.

        Examples
        --------
        >>> Declared(layout="ranks", id_columns="id").given()
        {'layout': 'ranks', 'id_columns': ['id']}
        """
        found: dict[str, Any] = {
            "layout": self.layout,
            "best": self.best,
            "id_columns": list(self.id_columns) or None,
            "items_in": self.items_in,
            "header": self.header,
            "decimal": self.decimal,
        }
        return {name: value for name, value in found.items() if value is not None}


def one_of(option: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a value that an option does not have; None is always allowed."""
    if value is not None and value not in allowed:
        names = ", ".join(allowed)
        raise InputError(f"must be one of {names}, not {value!r}", parameter=option, value=value)


def as_columns(columns: str | Iterable[object]) -> tuple[str, ...]:
    """Return the names of columns, of which there may be one.

    Examples
    --------
    >>> as_columns("id"), as_columns(["id", 3])
    (('id',), ('id', '3'))
    """
    if isinstance(columns, str):
        return (columns.strip(),)
    try:
        return tuple(str(column).strip() for column in columns)
    except TypeError:
        raise InputError(
            f"must be names of columns, not {columns!r}", parameter="id_columns", value=columns
        ) from None


def layout_of(layout: str | None, options: Iterable[str]) -> str | None:
    """Return the layout that options of a single reader imply; refuse them for another layout.

    Examples
    --------
    >>> layout_of(None, ["genes"]), layout_of("ranks", [])
    ('expression', 'ranks')
    """
    for option in options:
        if option not in OWNERS:
            known = ", ".join([*USERS, *OWNERS])
            raise InputError(
                f"there is no option {option!r}",
                value=option,
                remedy=f"the options are layout, complete, {known}",
            )
        if layout is None:
            layout = OWNERS[option]
        if layout != OWNERS[option]:
            raise InputError(
                f"is for the layout {OWNERS[option]}, not for {layout}",
                parameter=option,
                value=layout,
            )
    return layout


def check_reading(options: Mapping[str, Any]) -> None:
    """Check the options of `fedrank.data.read`, before there is a file.

    Raises
    ------
    fedrank.exceptions.InputError
        If an option is unknown, has a wrong value, or is for another layout.

    Examples
    --------
    >>> check_reading({"layout": "scores", "best": "high", "complete": True})
    >>> check_reading({"layout": "votes"})
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: layout must be one of ranks, scores, orders, long, preflib,
    sushi, jester, ballots, expression, not 'votes'
    """
    tables = {name: options[name] for name in USERS if name in options}
    others = [name for name in options if name not in (*USERS, "layout", "complete")]
    layout = options.get("layout")
    one_of("layout", layout, LAYOUTS)
    Declared(layout=layout_of(layout, others), **tables)
    for name, value in options.items():
        kind = TYPES.get(name)
        if kind == "genes" and not isinstance(value, str | os.PathLike) and not is_list(value):
            problem = f"must be a file, or a list of texts, not {value!r}"
            raise InputError(problem, parameter=name, value=value)
        if kind == "list" and not is_list(value):
            problem = f"must be a list of texts, not {value!r}"
            raise InputError(problem, parameter=name, value=value)
        if kind == "bool" and not isinstance(value, bool):
            problem = f"must be true or false, not {value!r}"
            raise InputError(problem, parameter=name, value=value)
        if isinstance(kind, tuple):
            one_of(name, value, kind)


TYPES = {
    "complete": "bool",
    "header": "bool",
    "keep_blank": "bool",
    "genes": "genes",
    "id_columns": "list",
    "items": "list",
    "choices": "list",
    "overvote": ("skip", "stop"),
    "genes_in": ("rows", "columns"),
    "ties": ("index", "random", "error"),
}
"""What the values of options are."""


def is_list(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def refuse_table_options(path: PathLike, declared: Declared, layout: str) -> None:
    """Refuse options of tables for a file of another layout."""
    given = [option for option in declared.given() if option in USERS]
    if given:
        raise InputError(
            f"the file has the layout {layout}, but options of tables are given",
            file=shown_name(path),
            value=getattr(declared, given[0]),
            remedy="leave them out, or declare the layout",
        )
