"""``fedrank aggregate``: one ranking from those of a file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import fedrank
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.consensus import TAKE_PARTIAL, Consensus
from fedrank.distances import kemeny_score
from fedrank.rankings.partial import AnyRankings


class Method(StrEnum):
    """How a consensus is found where all rankings are in one place."""

    BORDA = "borda"
    LEHMER = "lehmer"
    FOOTRULE = "footrule"
    PIVOT = "pivot"
    PICK = "pick"
    KEMENY = "kemeny"


class Ties(StrEnum):
    """What decides where the data do not."""

    RANDOM = "random"
    INDEX = "index"


def aggregate(
    file: Annotated[
        Path, typer.Argument(help="Rankings: PrefLib, a table, …; - is standard input.")
    ],
    method: Annotated[Method, typer.Option(help="How the consensus is found.")] = Method.BORDA,
    ties: Annotated[Ties, typer.Option(help="What decides ties.")] = Ties.RANDOM,
    seed: output.SeedOption = 0,
    top: output.TopOption = 10,
    as_json: output.JsonOption = False,
    out: output.OutOption = None,
    layout: _reading.LayoutOption = None,
    base: _reading.BaseOption = None,
    genes: _reading.GenesOption = None,
    genes_in: _reading.GenesInOption = None,
    candidates: _reading.CandidatesOption = None,
    choices: _reading.ChoicesOption = None,
    overvote: _reading.OvervoteOption = None,
    keep_blank: _reading.KeepBlankOption = False,
    keep_ties: _reading.KeepTiesOption = False,
) -> None:
    """Find one ranking that stands for all of a file's.

    FILE may be of PrefLib (soc, soi, toc, toi), Sushi, Jester, ranked ballots,
    gene expression, or a CSV, TSV or Parquet table of ranks, orders or scores.

    Place 0 is the best. The Kemeny score is the number of pairs of items that
    a ranking orders otherwise than the consensus, in the mean, divided by the
    number of items: less is better. With --keep-ties, a pair that a ranking
    ties counts one half; what it leaves out is tied last.

    Example: fedrank aggregate votes.soc --method kemeny --out consensus.csv
    """
    output.check_out(out, [file])
    if keep_ties and method not in TAKE_PARTIAL:
        raise ValueError(f"--keep-ties goes with --method {', '.join(TAKE_PARTIAL)}, not {method}")
    how = _reading.reading(
        layout, base, genes, genes_in, candidates, choices, overvote, keep_blank, keep_ties
    )
    rankings = how.read(file, _reading.stream(seed, 0))
    found = fedrank.aggregate(rankings, method.value, ties.value, _reading.stream(seed, 1))
    facts = describe(rankings, found)
    document = {"version": fedrank.__version__, "file": str(file), "seed": seed, **facts}
    output.deliver(document, found, as_json, out)
    if not as_json:
        show(found, facts, top)
        output.say_where(out, "consensus")


def describe(rankings: AnyRankings, found: Consensus) -> dict[str, Any]:
    """Gather what is known of a consensus and where it comes from."""
    return {
        "method": found.method,
        "rankings": len(rankings),
        "items": rankings.n,
        "kemeny_score": kemeny_score(found, rankings),
        "lower_bound": found.lower_bound,
        "exact": found.exact,
        "ties": found.ties,
    }


def show(found: Consensus, facts: dict[str, Any], top: int) -> None:
    """Print the consensus and what is known of it."""
    proof = {True: "yes", False: "not proved"}
    output.show_places("Consensus", found, top, **output.mean_places(found))
    rows = [
        ("method", found.method),
        ("rankings", f"{facts['rankings']:,}"),
        ("items", f"{facts['items']:,}"),
        ("Kemeny score", f"{facts['kemeny_score']:.8g}"),
        ("ties that the data left open", f"{found.ties:,}"),
    ]
    if found.lower_bound is not None:
        rows.insert(4, ("no ranking's score is below", f"{found.lower_bound:.8g}"))
    if found.exact is not None:
        rows.append(("the best by this method's distance", proof[found.exact]))
    output.show("What is known of it", ["", ""], rows)
