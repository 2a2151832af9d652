"""``fedrank federate``: the whole protocol among the files of a folder."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import fedrank
from fedrank._random import stream_rng
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.cli._parties import Party, find_dropouts, gather
from fedrank.consensus import Consensus
from fedrank.distances import kemeny_score, kendall_distance
from fedrank.protocol.methods import DEFAULT_ROUNDS, DEFAULT_WINDOW, Kemeny, Method
from fedrank.protocol.result import FederatedConsensus, summary
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.rankings.partial import AnyRankings, PartialRankings
from fedrank.schemes import Borda, Lehmer

MAX_SHOWN_CLIENTS = 20  # rows of the table of clients


class MethodName(StrEnum):
    """The federated methods."""

    BORDA = "borda"
    LEHMER = "lehmer"
    KEMENY = "kemeny"


@_reading.reads_files
def federate(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="One file per client, or one file of all rankings."),
    ],
    by: Annotated[
        str | None, typer.Option(help="Column of the file that names each ranking's client.")
    ] = None,
    clients: Annotated[
        int | None,
        typer.Option(min=1, help="Deal the file's rankings at random to this many clients."),
    ] = None,
    users: Annotated[
        Path | None, typer.Option(help="Sushi: file of the users; each region is one client.")
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            help="How the consensus is computed. borda and lehmer take one round; kemeny takes "
            "a Borda round, then rounds that compare neighbouring items."
        ),
    ] = MethodName.BORDA,
    phi: Annotated[
        float, typer.Option(min=0, max=1, help="Dispersion that the quantizer assumes.")
    ] = 0.6,
    quantize: Annotated[
        bool,
        typer.Option(
            "--quantize/--unquantized",
            help="Borda: send rounded mean positions, so that every client has the same weight, "
            "or exact sums, so that every ranking has the same weight.",
        ),
    ] = True,
    low_bits: Annotated[
        str | None,
        typer.Option(help='Lehmer: number of low bits sent one-hot, or "paper" (default 0).'),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Kemeny: compare items that are up to this many places apart "
            f"(default {DEFAULT_WINDOW}).",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Kemeny: largest number of refinement rounds (default {DEFAULT_ROUNDS})."
        ),
    ] = None,
    fit_phi: Annotated[
        bool,
        typer.Option(
            "--fit-phi", help="Add a round that estimates the dispersion phi of the rankings."
        ),
    ] = False,
    max_samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of rankings per client; it is public. By default the smallest of "
            "1, 3, 7, 15, … that is enough: it reveals only the order of magnitude of the largest "
            "client.",
        ),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure/--no-secure", help="Mask the messages, or sum them unmasked.")
    ] = True,
    threshold: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of clients that must stay to the end (default: more than two thirds).",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLIENT:STEP",
            help="Simulate a client that drops out, and the first step that it does not answer: "
            "share, mask (the default) or unmask. May be repeated.",
        ),
    ] = None,
    min_survivors: Annotated[
        int,
        typer.Option(
            min=1,
            help="Smallest number of clients whose sum may be opened; below 3 it reveals too much "
            "about each.",
        ),
    ] = MIN_SURVIVORS,
    seed: output.SeedOption = 0,
    top: output.TopOption = 10,
    as_json: output.JsonOption = False,
    out: output.OutOption = None,
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Read each file that is certain without options as that, such as complete ranks, "
            "and only the others as declared, such as scores. By default all files must be alike.",
        ),
    ] = False,
    *,
    how: _reading.Reading,
) -> None:
    """Compute the consensus of several clients' rankings from masked messages.

    Each FILE is one client, named after the file without its ending. Or one
    FILE holds all rankings, and --by, --clients or --users says which client
    each ranking belongs to.

    Keys, shares and messages are real, but this one process reads all files:
    it shows what a federation gives and costs, and hides nothing from you.
    Place 1 is the best. A score is a mean position; 0 is the best.

    Example: fedrank federate votes/*.soc --method borda --drop precinct-3

    Example: fedrank federate ballots.csv --by Precinct --unquantized --json
    """
    output.check_out(out, files)
    parties = gather(files, by, clients, users, how, seed, mixed)
    partial = any(isinstance(party.rankings, PartialRankings) for party in parties)
    made = make_method(
        parties, method, phi, quantize, low_bits, window, rounds, max_samples, partial
    )
    lost = find_dropouts(parties, drop or [])
    result = fedrank.federate(
        {party.name: party.rankings for party in parties},
        made,
        secure=secure,
        threshold=threshold,
        dropouts=lost,
        rng=stream_rng(seed, 2),
        min_survivors=min_survivors,
        fit_phi=fit_phi,
    )
    kept = zip(parties, result.in_sum, strict=True)
    rankings = fedrank.Rankings.concat(party.rankings for party, summed in kept if summed)
    if result.item_labels is not None:  # the first client, whose order it is, may have dropped out
        rankings = rankings.align(result.items)
    central = fedrank.aggregate(rankings, method.value, rng=stream_rng(seed, 3))
    document = describe(parties, result, central, rankings, seed) | {"source": str(result.source)}
    output.deliver(document, result, as_json, out)
    if not as_json:
        output.say(result.source)
        show(parties, result, central, document, top)
        output.say_where(out, "consensus")


def make_method(
    parties: Sequence[Party],
    name: MethodName,
    phi: float,
    quantize: bool,
    low_bits: str | None,
    window: int | None,
    rounds: int | None,
    max_samples: int | None,
    partial: bool,
) -> Method:
    """Make the method, for clients about as large as the largest unless a bound is given."""
    largest = max(parties, key=lambda party: len(party.rankings))
    n, clients = largest.rankings.n, len(parties)
    # The bound is public, so it reveals only the order of magnitude of the largest client.
    bound = max_samples or 2 ** len(largest.rankings).bit_length() - 1
    check_flags(name, quantize, low_bits, window, rounds)
    if name is MethodName.LEHMER:
        return make_lehmer(n, clients, phi, low_bits or "0", max_samples, bound)
    exact = bound if name is MethodName.KEMENY or not quantize else None
    borda = Borda(
        n,
        clients,
        phi=phi,
        quantize=quantize,
        max_samples=max_samples or exact,
        partial=partial,
    )
    if name is MethodName.BORDA:
        return borda
    return Kemeny(
        n,
        clients,
        start=borda,
        window=window or DEFAULT_WINDOW,
        rounds=rounds or DEFAULT_ROUNDS,
        max_samples=bound,
        partial=partial,
    )


def check_flags(
    name: MethodName,
    quantize: bool,
    low_bits: str | None,
    window: int | None,
    rounds: int | None,
) -> None:
    """Refuse options of other methods than the one chosen."""
    asked = {
        "--unquantized": (not quantize, MethodName.BORDA),
        "--low-bits": (low_bits is not None, MethodName.LEHMER),
        "--window": (window is not None, MethodName.KEMENY),
        "--rounds": (rounds is not None, MethodName.KEMENY),
    }
    for flag, (given, owner) in asked.items():
        if given and name is not owner:
            raise ValueError(f"{flag} is an option of --method {owner}, not of --method {name}")


def make_lehmer(
    n: int, clients: int, phi: float, low_bits: str, max_samples: int | None, bound: int
) -> Lehmer:
    """Make a Lehmer scheme from the text of its low bits, which the scheme checks."""
    digits = low_bits.isascii() and low_bits.isdigit() and len(low_bits) < 10
    needed = bound if low_bits == "paper" else max_samples
    bits = int(low_bits) if digits else low_bits
    return Lehmer(n, clients, phi=phi, low_bits=bits, max_samples=needed)


def describe(
    parties: Sequence[Party],
    result: FederatedConsensus,
    central: Consensus,
    rankings: AnyRankings,
    seed: int,
) -> dict[str, Any]:
    """Gather what a run gave and cost, beside the central consensus."""
    told = summary(result)
    for client, party in zip(told["clients"], parties, strict=True):
        client |= {
            "rankings": len(party.rankings),
            "source": str(party.rankings.source),
            "bytes_of_rankings": output.raw_bytes(len(party.rankings), rankings.n),
        }
    return told | {
        "version": fedrank.__version__,
        "seed": seed,
        "scheme": json.loads(result.scheme.to_json()),
        "items": rankings.n,
        "rankings": len(rankings),
        "kemeny_score": kemeny_score(result, rankings),
        "central": {
            "kemeny_score": kemeny_score(central, rankings),
            "kendall_distance": kendall_distance(result, central),
            "order": list(central.labels),
        },
    }


def show(
    parties: Sequence[Party],
    result: FederatedConsensus,
    central: Consensus,
    document: dict[str, Any],
    top: int,
) -> None:
    """Print the consensus, the clients, and what it gives and costs."""
    central_place = (central.ranks + 1).tolist()
    output.show_places("Federated consensus", result, top, central_place=central_place)
    show_clients(document["clients"])
    sent = [client for client in document["clients"] if client["in_sum"]]
    others = document["central"]
    how = "masked" if result.secure else "unmasked"
    rows = [
        ("method", f"{result.method}, {how}", central.method),
        ("rankings in the sum", f"{document['rankings']:,}", "the same"),
        ("Kemeny score", f"{document['kemeny_score']:.8g}", f"{others['kemeny_score']:.8g}"),
        ("pairs ordered differently", f"{others['kendall_distance']:,}", ""),
        ("clients in the sum", f"{len(sent):,} of {len(parties):,}", ""),
        ("dropped out", dropouts(document["clients"]), ""),
        (
            "most bytes sent per client",
            f"{max(client['bytes_sent'] for client in sent):,}",
            f"{max(client['bytes_of_rankings'] for client in sent):,} (its rankings)",
        ),
        ("time, all parties", f"{sum(document['seconds'].values()) * 1e3:.0f} ms", ""),
    ]
    if len(document["rounds"]) > 1:
        rows.append(("rounds", ", ".join(document["rounds"]), ""))
    if result.fit is not None:
        rows.append(("phi, fitted", f"{result.fit.phi:.4f} ± {result.fit.standard_error:.2g}", ""))
    if result.note is not None:
        rows.append(("note", result.note, ""))
    output.show("What it gives and costs", ["", "federated", "all in one place"], rows)


def show_clients(clients: Sequence[dict[str, Any]]) -> None:
    """Print what each client sent, beside what its rankings would take."""
    rows = [
        [
            client["name"],
            f"{client['rankings']:,}",
            f"{client['bytes_sent']:,}",
            f"{client['bytes_of_rankings']:,}",
        ]
        for client in clients[:MAX_SHOWN_CLIENTS]
    ]
    if len(clients) > MAX_SHOWN_CLIENTS:
        rows.append([f"… {len(clients) - MAX_SHOWN_CLIENTS:,} more", "", "", ""])
    output.show("Clients", ["client", "rankings", "bytes sent", "raw bytes"], rows)


def dropouts(clients: Sequence[dict[str, Any]]) -> str:
    """Names of the lost clients, and when they were lost.

    Examples
    --------
    >>> lost = {"name": "a", "dropped_at": {"round": 1, "step": "mask"}}
    >>> dropouts([lost, {"name": "b", "dropped_at": None}])
    'a (at mask of round 1)'
    """
    said = []
    for client in clients:
        if at := client["dropped_at"]:
            later = f" of round {at['round']}" if at["round"] else ""
            said.append(f"{client['name']} (at {at['step']}{later})")
    return ", ".join(said) or "nobody"
