"""``fedrank aggregate``: the consensus of the rankings in one file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import fedrank
from fedrank._random import stream_rng
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.consensus import Consensus
from fedrank.consensus.ties import BROKEN, tie_facts
from fedrank.distances import kemeny_score
from fedrank.rankings.partial import AnyRankings


class Method(StrEnum):
    """How the consensus is computed."""

    BORDA = "borda"
    LEHMER = "lehmer"
    FOOTRULE = "footrule"
    PIVOT = "pivot"
    PICK = "pick"
    KEMENY = "kemeny"


class Ties(StrEnum):
    """How ties are broken."""

    RANDOM = "random"
    INDEX = "index"


@_reading.reads_files
def aggregate(
    file: Annotated[Path, typer.Argument(help="File with rankings; - reads standard input.")],
    method: Annotated[Method, typer.Option(help="How the consensus is computed.")] = Method.BORDA,
    ties: Annotated[
        Ties, typer.Option(help="Break ties at random, or by item number.")
    ] = Ties.RANDOM,
    seed: output.SeedOption = 0,
    top: output.TopOption = 10,
    as_json: output.JsonOption = False,
    out: output.OutOption = None,
    *,
    how: _reading.Reading,
) -> None:
    """Compute a consensus ranking from the rankings in FILE.

    FILE contains PrefLib orders (soc, soi, toc, toi), Sushi, Jester, ranked
    ballots, gene expression, or a CSV, TSV or Parquet table of ranks, orders or
    scores. What is not certain from the whole file must be declared: without
    the options, the command lists the possible readings.

    Place 1 is the best. A score is an item's mean position, 0 for an item
    that is first in every ranking. The Kemeny score is the mean number of
    item pairs that a ranking orders differently from the consensus, divided
    by the number of items: lower is better. A pair that a ranking ties counts
    one half; items that it does not rank are tied last.

    Example: fedrank aggregate votes.soc --method kemeny --out consensus.csv
    """
    output.check_out(out, [file])
    rankings = how.read(file, stream_rng(seed, 0))
    found = fedrank.aggregate(rankings, method.value, ties=ties.value, rng=stream_rng(seed, 1))
    facts = describe(rankings, found)
    document = {"version": fedrank.__version__, "file": str(file), "seed": seed, **facts}
    output.deliver(document, found, as_json, out)
    if not as_json:
        output.say(rankings.source)
        show(found, facts, top)
        output.say_where(out, "consensus")


def describe(rankings: AnyRankings, found: Consensus) -> dict[str, Any]:
    """Return the facts about a consensus and its rankings."""
    return {
        "source": str(rankings.source),
        "method": found.method,
        "rankings": len(rankings),
        "items": rankings.n,
        "kemeny_score": kemeny_score(found, rankings),
        "lower_bound": found.lower_bound,
        "exact": found.exact,
    } | tie_facts(found)


def show(found: Consensus, facts: dict[str, Any], top: int) -> None:
    """Print the consensus and the facts about it."""
    proof = {True: "yes", False: "not proven"}
    output.show_places("Consensus", found, top)
    rows = [
        ("method", found.method),
        ("rankings", f"{facts['rankings']:,}"),
        ("items", f"{facts['items']:,}"),
        ("Kemeny score", f"{facts['kemeny_score']:.8g}"),
        (
            f"ties {BROKEN[found.decided_by]}",
            "not reported" if facts["ties"] is None else f"{facts['ties']:,}",
        ),
    ]
    if found.lower_bound is not None:
        rows.insert(4, ("lower bound of the score", f"{found.lower_bound:.8g}"))
    if found.exact is not None:
        rows.append(("optimal for this method", proof[found.exact]))
    output.show("Facts", ["", ""], rows)
