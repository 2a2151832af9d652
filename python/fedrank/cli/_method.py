"""The options by which commands choose a federated method, and what they make of them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from fedrank.cli._reading import flag_of
from fedrank.protocol.federate import check_options, named_kemeny
from fedrank.protocol.methods import MAX_ROUNDS, START_LEVELS, Method
from fedrank.schemes import Borda, Lehmer
from fedrank.schemes.borda import DEFAULT_LEVELS, DEFAULT_PHI
from fedrank.schemes.refine import AUTO


class MethodName(StrEnum):
    """The federated methods."""

    BORDA = "borda"
    LEHMER = "lehmer"
    KEMENY = "kemeny"


class Send(StrEnum):
    """What clients of federated Borda send."""

    MEANS = "means"
    WEIGHTED = "weighted"
    CENTROIDS = "centroids"
    SUMS = "sums"


MethodOption = Annotated[
    MethodName,
    typer.Option(
        "--method",
        help="How the consensus is computed. borda and lehmer take one round; kemeny takes "
        "a Borda round, then rounds that compare neighbouring items.",
    ),
]
SendOption = Annotated[
    Send | None,
    typer.Option(
        "--send",
        help="Borda: what clients send. means: rounded mean positions, so that every client "
        "has the same weight. weighted: the same, so that every ranking has the same weight. "
        "sums: exact sums of positions. centroids: the paper's quantizer. (Default: means; of "
        "kemeny: weighted.)",
    ),
]
LevelsOption = Annotated[
    int | None,
    typer.Option(
        "--levels",
        min=1,
        help="Borda, --send means or weighted: steps per place to which means are rounded "
        f"(default {DEFAULT_LEVELS}; of kemeny, weighted: {START_LEVELS}).",
    ),
]
PhiOption = Annotated[
    float | None,
    typer.Option(
        "--phi",
        min=0,
        max=1,
        help="Dispersion that --send centroids and --low-bits paper assume "
        f"(default {DEFAULT_PHI}).",
    ),
]
LowBitsOption = Annotated[
    str | None,
    typer.Option(
        "--low-bits", help='Lehmer: number of low bits sent one-hot, or "paper" (default 0).'
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window",
        help="Kemeny: compare items that are up to this many places apart, or auto: begin with "
        "neighbours, and widen where items move (default auto).",
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        min=1,
        help="Kemeny: largest number of refinement rounds (default: until nothing moves, at "
        f"most {MAX_ROUNDS}).",
    ),
]
FitPhiOption = Annotated[
    bool,
    typer.Option(
        "--fit-phi", help="Add a round that estimates the dispersion phi of the rankings."
    ),
]
ThresholdOption = Annotated[
    int | None,
    typer.Option(
        "--threshold",
        min=1,
        help="Number of clients that must stay to the end (default: more than two thirds).",
    ),
]


def method_of(
    name: MethodName,
    n: int,
    clients: int,
    options: Mapping[str, Any],
    max_samples: int | None,
    partial: bool,
) -> Method:
    """Make the method of a study, which states its bound on rankings."""
    given = {key: value for key, value in options.items() if value is not None}
    check_flags(name, given)
    if name is MethodName.LEHMER and partial:
        raise ValueError("--partial is an option of --method borda or kemeny, not of lehmer")
    if name is MethodName.LEHMER:
        return make_lehmer(n, clients, {"low_bits": "0"} | given, max_samples)
    given |= {"partial": True} if partial else {}
    given |= {"max_samples": max_samples} if max_samples else {}
    check_options(name.value, given)
    return (named_kemeny if name is MethodName.KEMENY else Borda)(n, clients, **given)


def as_window(text: str | None) -> int | str | None:
    """Read the text of --window: a number, "auto", or None if it was not given.

    Examples
    --------
    >>> as_window("8"), as_window("auto")
    (8, 'auto')
    >>> as_window("wide")
    Traceback (most recent call last):
        ...
    ValueError: --window must be a whole number of at least 1, or auto, not 'wide'
    """
    if text is None or text == AUTO:
        return text
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise ValueError(f"--window must be a whole number of at least 1, or auto, not {text!r}")
    return int(text)


def check_flags(name: MethodName, given: Iterable[str]) -> None:
    """Refuse options of other methods than the one chosen."""
    borda = (MethodName.BORDA, MethodName.KEMENY)
    owners = {
        "send": borda,
        "levels": borda,
        "low_bits": (MethodName.LEHMER,),
        "window": (MethodName.KEMENY,),
        "rounds": (MethodName.KEMENY,),
    }
    for option in given:
        if name not in owners.get(option, (name,)):
            flag, owner = flag_of(option), " or ".join(owners[option])
            raise ValueError(f"{flag} is an option of --method {owner}, not of --method {name}")


def make_lehmer(
    n: int, clients: int, options: Mapping[str, Any], max_samples: int | None
) -> Lehmer:
    """Make a Lehmer scheme from the text of its low bits, which the scheme checks."""
    low_bits, rest = options["low_bits"], {k: v for k, v in options.items() if k != "low_bits"}
    digits = low_bits.isascii() and low_bits.isdigit() and len(low_bits) < 10
    bits = int(low_bits) if digits else low_bits
    return Lehmer(n, clients, low_bits=bits, max_samples=max_samples, **rest)
