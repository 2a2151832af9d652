"""The options by which the commands read files, all in one place."""

import gzip
import inspect
import shlex
import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer

from fedrank import data
from fedrank._validation import check_items
from fedrank.data._options import LAYOUTS, OWNERS, check_reading, layout_of
from fedrank.data._text import fail, rereadable, text_lines
from fedrank.exceptions import InputError
from fedrank.rankings.partial import AnyRankings

STDIN = Path("/dev/stdin")
PANEL = "Reading (what is not certain from the whole file must be declared)"

Layout = StrEnum("Layout", [(name.upper(), name) for name in LAYOUTS])  # type: ignore[misc]


class Best(StrEnum):
    """Which numbers are best."""

    LOW = "low"
    HIGH = "high"


class Side(StrEnum):
    """Where the items of a table are."""

    ROWS = "rows"
    COLUMNS = "columns"


class Decimal(StrEnum):
    """The decimal sign."""

    POINT = "."
    COMMA = ","


class Overvote(StrEnum):
    """How an overvote changes a ballot."""

    SKIP = "skip"
    STOP = "stop"


@dataclass(frozen=True)
class Reading:
    """The options of a reader, under the names that `fedrank.data.read` gives them."""

    options: dict[str, Any]

    @property
    def layout(self) -> str | None:
        """The declared layout."""
        found: str | None = self.options.get("layout")
        return found

    def read(self, path: Path, rng: np.random.Generator) -> AnyRankings:
        """Read a file."""
        check_file(path)
        found: AnyRankings = data.read(place(path), rng=rng, **self.options)
        return found

    def read_mixed(self, path: Path, rng: Callable[[], np.random.Generator]) -> AnyRankings:
        """Read a file as is certain without options, or else as declared."""
        check_file(path)
        kept = {name: value for name, value in self.options.items() if name == "complete"}
        with rereadable(place(path)) as file:
            try:
                found: AnyRankings = data.read(file, rng=rng(), **kept)
            except InputError as error:
                if not error.choices:
                    raise
            else:
                own = found.source is not None and found.source.kind == self.layout == "ballots"
                if not own:
                    return found
            # What is not certain; or ballots, whose options say no other layout.
            declared: AnyRankings = data.read(file, rng=rng(), **self.options)
            return declared

    def read_groups(self, path: Path, by: str, rng: np.random.Generator) -> dict[str, AnyRankings]:
        """Read a file in which a column names the clients."""
        check_file(path)
        return data.read_groups(place(path), by, rng=rng, **self.options)


def option(*names: str, description: str) -> Any:
    """Describe an option of a reader."""
    return typer.Option(*names, help=description, rich_help_panel=PANEL)


def options(
    layout: Annotated[
        Layout | None,
        option(
            "--layout",
            description="What the file contains. PrefLib, Sushi, Jester, ballots, orders and "
            "complete ranks are recognised.",
        ),
    ] = None,
    best: Annotated[
        Best | None,
        option(
            "--best",
            description="Tables: whether the lowest or the highest number is best. Scores need "
            "it; ranks are lowest best by default.",
        ),
    ] = None,
    id_columns: Annotated[
        list[str] | None,
        option(
            "--id",
            description="Tables: name of a column that is no item, such as an id; may be repeated.",
        ),
    ] = None,
    items_in: Annotated[
        Side | None,
        option("--items-in", description="Tables: whether the items are in rows or in columns."),
    ] = None,
    header: Annotated[
        bool | None,
        option("--header/--no-header", description="Tables: whether the first row is a header."),
    ] = None,
    decimal: Annotated[
        Decimal | None,
        option("--decimal", description="Tables: the decimal sign; a point by default."),
    ] = None,
    complete: Annotated[
        bool,
        option(
            "--complete",
            description="Order ties and gaps at random; by default they are kept.",
        ),
    ] = False,
    genes: Annotated[
        Path | None,
        option(
            "--genes",
            description="Expression tables: file with the genes to rank, one per line; "
            "default all.",
        ),
    ] = None,
    genes_in: Annotated[
        Side | None,
        option(
            "--genes-in",
            description="Expression tables: where the genes are; recognised by default.",
        ),
    ] = None,
    candidates: Annotated[
        Path | None,
        option(
            "--candidates",
            description="Ballots: file with all candidates, one per line; by default those on "
            "the ballots.",
        ),
    ] = None,
    choices: Annotated[
        list[str] | None,
        option(
            "--choices",
            description="Ballots: name of a column with choices; repeat it for each choice, best "
            "first. By default the columns called '1st choice', 'rank1' or similar.",
        ),
    ] = None,
    overvote: Annotated[
        Overvote | None,
        option(
            "--overvote",
            description="Ballots: skip an overvote, or stop the ballot there; skip by default.",
        ),
    ] = None,
    keep_blank: Annotated[
        bool,
        option(
            "--keep-blank",
            description="Ballots: with --complete, count a ballot without a valid choice as a "
            "random ranking; left out by default.",
        ),
    ] = False,
) -> Reading:
    """Collect the options of the reader."""
    given: dict[str, Any] = {
        "layout": layout and layout.value,
        "best": best and best.value,
        "id_columns": id_columns or None,
        "items_in": items_in and items_in.value,
        "header": header,
        "decimal": decimal and decimal.value,
        "complete": complete or None,
        "genes": genes and str(genes),
        "genes_in": genes_in and genes_in.value,
        "items": None if candidates is None else list(read_labels(candidates)),
        "choices": choices or None,
        "overvote": overvote and overvote.value,
        "keep_blank": keep_blank or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    check_reading(chosen)  # before any work is done
    implied = layout_of(chosen.get("layout"), [name for name in chosen if name in OWNERS])
    return Reading(chosen if implied is None else chosen | {"layout": implied})


def flag_of(name: str) -> str:
    """Return the flag of a parameter of the Python functions.

    Examples
    --------
    >>> flag_of("items_in"), flag_of("id_columns")
    ('--items-in', '--id')
    """
    other = {"id_columns": "--id", "items": "--candidates", "n": "--items"}
    return other.get(name, "--" + name.replace("_", "-"))


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the reader, which it takes as ``how``, a `Reading`."""
    mine, shared = inspect.signature(command), inspect.signature(options)

    @wraps(command)
    def wrapper(**given: Any) -> None:
        asked = {name: given.pop(name) for name in shared.parameters}
        command(**given, how=options(**asked))

    own = [each for name, each in mine.parameters.items() if name != "how"]
    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in (*own, *shared.parameters.values())
    ]
    wrapper.__signature__ = mine.replace(parameters=parameters)  # type: ignore[attr-defined]
    hints = get_type_hints(command, include_extras=True)
    hints |= get_type_hints(options, include_extras=True)
    wrapper.__annotations__ = {
        name: hint for name, hint in hints.items() if name not in ("how", "return")
    }
    return wrapper


def as_flags(chosen: Mapping[str, Any]) -> str:
    """Write options as the flags of a command.

    Examples
    --------
    >>> as_flags({"layout": "scores", "id_columns": ["id", "my no"], "header": False})
    "--layout scores --id id --id 'my no' --no-header"
    """
    words = []
    for name, value in chosen.items():
        flag = flag_of(name)
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            listed = value if isinstance(value, list) else [value]
            words += [f"{flag} {shlex.quote(str(each))}" for each in listed]
    return " ".join(words)


def read_labels(path: Path, utf8: bool = False) -> tuple[Hashable, ...]:
    """Read labels from a file, one per line; ``utf8`` refuses other encodings."""
    check_file(path)
    with rereadable(path) as file:
        if utf8:
            check_utf8(path, Path(file))
        with text_lines(file) as lines:
            labels = [label for _, label in lines]
    try:
        return check_items(labels, len(labels))
    except InputError as error:
        raise error.at(path) from None


def check_utf8(path: Path, file: Path) -> None:
    """Refuse a text that is not UTF-8: another reader could see other labels in it."""
    with file.open("rb") as opened:
        zipped = opened.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(file) if zipped else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    line.decode()
                except UnicodeDecodeError:
                    fail(path, number, "this is not UTF-8", remedy="save the file as UTF-8")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return  # the reader says so


def place(path: Path) -> Path:
    """Return the path of a file, or of standard input for ``-``.

    Examples
    --------
    >>> place(Path("-")).name, place(Path("votes.csv")).name
    ('stdin', 'votes.csv')
    """
    return STDIN if path == Path("-") else path


def check_file(path: Path) -> None:
    """Refuse a path that does not exist, or is a folder."""
    path = place(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name the files in it, {path / '*'}")
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
