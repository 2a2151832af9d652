"""Make figures: compute what is missing, write it down, draw it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedrank._progress import Progress
from fedrank.experiments import bins, real, study, synthetic, table
from fedrank.experiments.figure import Figure, Options, Row

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (bins.Bins(), *synthetic.FIGURES, *real.FIGURES, *study.FIGURES)
}
"""Every figure, by name."""
GROUPS = {
    "all": tuple(FIGURES),
    "synthetic": tuple(figure.name for figure in synthetic.FIGURES),
    "real": tuple(figure.name for figure in real.FIGURES),
    "beyond": tuple(figure.name for figure in study.FIGURES),
}
FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Made:
    """What became of a figure.

    Attributes
    ----------
    name : str
        The figure.
    table : path
        Its CSV; None if it could not be made.
    pictures : tuple of path
        What was drawn.
    problem : str, optional
        Why it could not be made.
    """

    name: str
    table: Path | None
    pictures: tuple[Path, ...] = ()
    problem: str | None = None


def find(names: Iterable[str]) -> list[Figure]:
    """Look up figures and groups of figures by name.

    Examples
    --------
    >>> [figure.name for figure in find(["bins", "sushi", "bins"])]
    ['bins', 'sushi']
    >>> len(find(["synthetic"]))
    12
    """
    found: dict[str, Figure] = {}
    for name in names:
        if name not in FIGURES and name not in GROUPS:
            known = ", ".join((*GROUPS, *FIGURES))
            raise ValueError(f"there is no figure {name!r}; there are {known}")
        found |= {each: FIGURES[each] for each in GROUPS.get(name, (name,))}
    return list(found.values())


def reproduce(
    names: Sequence[str] = ("all",),
    out: Path | str = "out/results",
    options: Options = Options(),  # noqa: B008  frozen
    formats: Sequence[str] = ("png", "svg"),
) -> list[Made]:
    """Make figures: a tidy CSV of each, and pictures.

    What is in a table already is kept if it was made with the same seed, number of repetitions
    and version, of the same data; so a run that was stopped goes on where it was. Pictures of
    a table that changes are deleted.

    Parameters
    ----------
    names : sequence of str
        Figures (the keys of ``FIGURES``) or groups: "all", "synthetic", "real", "beyond".
    out : path
        Folder for the files.
    options : Options
        Seed, repetitions, and where real data are.
    formats : sequence of str
        "png", "svg", "pdf"; none for tables alone.

    Returns
    -------
    made : list of Made
        One for each figure. In a group, a figure whose data are missing is passed over with
        its reason; asked for by its own name, that is an error.

    Raises
    ------
    ValueError
        If a name is unknown, or there is no such data folder.
    FileNotFoundError
        If data are missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (made,) = reproduce(["bins"], folder, Options(repetitions=100), formats=())
    ...     made.table.read_text().splitlines()[0]
    'figure,n,phi,place,left,right,expected,mean,standard_error,repetitions,seed,version'
    """
    figures = find(names)
    if options.repetitions is not None and options.repetitions < 1:
        raise ValueError(f"repetitions must be at least 1, not {options.repetitions}")
    if options.data is not None and not options.data.is_dir():
        raise ValueError(f"there is no data folder {options.data}")
    folder = Path(out)
    table.writable(folder)
    made = []
    for figure in figures:
        try:
            made.append(make(figure, folder, options, formats))
        except FileNotFoundError as error:
            if figure.name in names:
                raise
            made.append(Made(figure.name, None, problem=str(error)))
    return made


def make(figure: Figure, folder: Path, options: Options, formats: Sequence[str]) -> Made:
    """Compute the parts that are missing, writing the table after each; then draw."""
    path = folder / f"{figure.name}.csv"
    kept = table.matching(table.load(path), figure.stamp(options))
    parts = figure.parts(options)
    rows: list[Row] = []
    steps = figure.steps_of(options)
    with Progress(figure.name, len(parts) * steps) as progress:
        for part in parts:
            if known := table.matching(kept, part):
                rows += known
                progress.advance(steps)
            else:
                rows += figure.run(part, options, progress.advance)
                replace(path, rows + later(kept, rows))
    if table.load(path) != rows:  # rows of parts that are no longer there
        replace(path, rows)
    return Made(figure.name, path, draw(figure, rows, folder, formats))


def replace(path: Path, rows: Sequence[Row]) -> None:
    """Write a table; pictures of what it was go first, so that none outlives it by a stop."""
    for suffix in FORMATS:
        path.with_suffix(f".{suffix}").unlink(missing_ok=True)
    table.save(path, rows)


def later(kept: list[Row], rows: list[Row]) -> list[Row]:
    """Return rows of an earlier run that this one has not come to yet."""
    return [row for row in kept if row not in rows]


def draw(
    figure: Figure, rows: Sequence[Row], folder: Path, formats: Sequence[str]
) -> tuple[Path, ...]:
    """Draw the pictures that are missing."""
    paths = tuple(folder / f"{figure.name}.{suffix}" for suffix in formats)
    due = [path for path in paths if not path.exists()]
    if due:
        from fedrank import plots  # noqa: PLC0415  an extra

        drawn = figure.draw(rows)
        for path in due:
            plots.save(drawn, path)
    return paths
