"""Compare fedrank with its peers, and write the results to benches/README.md.

    python -m benches.peers [--quick] [--only NAME]

Ours and the peer take turns in one process, and the best turn of each counts, so that other load on
the machine affects both. ``--quick`` takes few turns and skips the largest inputs. With ``--quick``
or ``--only``, README.md is not changed.
"""

import argparse
import os
import platform
import warnings
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from . import (
    borda,
    federate,
    footrule,
    golomb,
    growth,
    kemeny,
    kendall,
    lehmer,
    mask,
    memory,
    messages,
    sampling,
    scheme,
    secagg,
)
from .harness import ROOT, Clock, M, N, Result

README = ROOT / "benches" / "README.md"
START, END = "<!-- results -->", "<!-- end of results -->"
CONSOLE = Console()
COMPARISONS = {
    module.__name__.rpartition(".")[2]: module.run
    for module in (
        *(kendall, sampling, lehmer, golomb, borda, footrule, kemeny),
        *(scheme, mask, secagg, federate, messages),
        *(growth, memory),
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benches.peers", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few turns, no large inputs")
    parser.add_argument("--only", choices=COMPARISONS, help="run one comparison")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the peers
    names = [options.only] if options.only else list(COMPARISONS)
    results: dict[str, list[Result]] = {}
    for count, name in enumerate(names, 1):
        CONSOLE.print(f"[{count}/{len(names)}] {name} …", markup=False)
        results[name] = list(COMPARISONS[name](Clock(options.quick)))
        show(name, results[name])
    missed = [row.name for rows in results.values() for row in rows if row.met is False]
    CONSOLE.print(f"Missed: {len(missed)}", *(f"  {name}" for name in missed), sep="\n")
    if not (options.quick or options.only):
        write(results)


def show(title: str, rows: list[Result]) -> None:
    """Print one table."""
    table = Table(*(rows[0].columns if rows else ["not run"]), title=title)
    for row in rows:
        style = "bold red" if row.met is False else None
        table.add_row(*(cell.strip("*") for cell in row.cells()), style=style)
    CONSOLE.print(table)


def write(results: dict[str, list[Result]]) -> None:
    """Put the results between the markers of README.md."""
    names = ["fedrank", "numpy", "scipy", "prefsampling", "corankco"]
    if results["secagg"]:
        names.append("flwr")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    lines = [
        f"Python {platform.python_version()}, {versions}; {platform.machine()}, "
        f"{os.cpu_count()} cores; n = {N}, m = {M} unless a row says otherwise.",
    ]
    for title, rows in results.items():
        lines += section(title, rows)
    head, _, rest = README.read_text(encoding="utf-8").partition(START)
    tail = rest.partition(END)[2]
    text = "\n".join([f"{head}{START}", "", *lines, "", f"{END}{tail}"])
    README.write_text(text, encoding="utf-8")


def section(title: str, rows: list[Result]) -> list[str]:
    """Write one table as lines of Markdown."""
    if not rows:
        return ["", f"### {title}", "", "Not run: a package or a tool that it needs is missing."]
    columns = rows[0].columns
    head = [line(columns), line([":--"] + ["--:"] * (len(columns) - 1))]
    return ["", f"### {title}", "", *head, *(line(row.cells()) for row in rows)]


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
