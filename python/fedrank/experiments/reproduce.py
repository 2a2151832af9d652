"""Make figures: compute the rows that are missing, write the table, draw the picture."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fedrank._progress import Progress
from fedrank._validation import whole
from fedrank.exceptions import InputError, Remedy
from fedrank.experiments import ablations, bins, real, synthetic, table
from fedrank.experiments.figure import Figure, Options, Row

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (bins.Bins(), *synthetic.FIGURES, *real.FIGURES, *ablations.FIGURES)
}
"""Every figure, by name."""

GROUPS = {
    "all": tuple(FIGURES),
    "synthetic": tuple(figure.name for figure in synthetic.FIGURES),
    "real": tuple(figure.name for figure in real.FIGURES),
    "beyond": tuple(figure.name for figure in ablations.FIGURES),
}
"""Names that stand for several figures."""

FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Made:
    """The files of a figure, or why it could not be made.

    Attributes
    ----------
    name : str
        Name of the figure.
    table : path
        Its CSV file; None if it could not be made.
    pictures : tuple of path
        Its pictures.
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
            close = get_close_matches(str(name), (*GROUPS, *FIGURES))
            similar = f", but there is {' and '.join(close)}" if close else ""
            raise InputError(
                f"there is no figure {name!r}{similar}", value=name, remedy=Remedy.FIGURES
            )
        found |= {each: FIGURES[each] for each in GROUPS.get(name, (name,))}
    return list(found.values())


def reproduce(
    names: Sequence[str] = ("all",),
    out: Path | str = "out/results",
    options: Options = Options(),  # noqa: B008  frozen
    formats: Sequence[str] = ("png", "svg"),
) -> list[Made]:
    """Make figures: a tidy CSV file per figure, and pictures.

    The paper's own algorithms are in the figures under their numbers: Algorithm 1 (Borda,
    centralized), Algorithm 2 (Borda, quantized) and Algorithm 3 (Lehmer). Rows that are already in
    a table are kept if seed, number of repetitions, version and data are the same; so a run that
    was stopped continues where it was. If a table changes, its old pictures are deleted.

    Parameters
    ----------
    names : sequence of str
        Figures (the keys of ``FIGURES``) or groups: "all", "synthetic", "real", "beyond".
    out : path
        Folder for the files.
    options : Options
        Seed, repetitions, and the folder of the real data.
    formats : sequence of str
        "png", "svg", "pdf"; empty for tables only.

    Returns
    -------
    made : list of Made
        One per figure. A figure of a group whose data are missing is skipped, and ``problem``
        says why; a figure that was named itself is an error.

    Raises
    ------
    ValueError
        If a name is unknown, or the data folder does not exist.
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
    if options.repetitions is not None:
        whole("repetitions", options.repetitions)
    if options.data is not None and not options.data.is_dir():
        raise InputError(
            f"must be the folder of the data sets, but there is no folder {options.data}",
            parameter="data",
            value=options.data,
        )
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
    """Compute the parts that are missing, and write the table after each; then draw."""
    path = folder / f"{figure.name}.csv"
    kept = table.matching(table.load(path), figure.stamp(options))
    parts = figure.parts(options)
    rows: list[Row] = []
    due = [part for part in parts if not table.matching(kept, part)]
    with Progress(figure.name, len(due) * figure.steps_of(options)) as progress:
        for part in parts:
            if known := table.matching(kept, part):
                rows += known
            else:
                rows += figure.run(part, options, progress.advance)
                replace(path, rows + later(kept, rows))
    if table.load(path) != rows:  # the file has rows of parts that no longer exist
        replace(path, rows)
    return Made(figure.name, path, draw(figure, rows, folder, formats))


def replace(path: Path, rows: Sequence[Row]) -> None:
    """Delete the pictures of the old table, then write the new one.

    In this order, since a run may be stopped in between: no picture shows an older table.
    """
    for suffix in FORMATS:
        path.with_suffix(f".{suffix}").unlink(missing_ok=True)
    table.save(path, rows)


def later(kept: list[Row], rows: list[Row]) -> list[Row]:
    """Return rows of an earlier run that this one has not reached yet."""
    return [row for row in kept if row not in rows]


def draw(
    figure: Figure, rows: Sequence[Row], folder: Path, formats: Sequence[str]
) -> tuple[Path, ...]:
    """Draw the pictures that are missing."""
    paths = tuple(folder / f"{figure.name}.{suffix}" for suffix in formats)
    due = [path for path in paths if not path.exists()]
    if due:
        from fedrank import plots  # noqa: PLC0415  needs the extra plot

        with plots.off_screen():
            drawn = figure.draw(rows)
            for path in due:
                plots.save(drawn, path)
    return paths
