"""``fedrank federate``: the whole protocol among the files of a folder."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

import fedrank
from fedrank._random import stream_rng
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.cli._flags import FLAGS
from fedrank.cli._method import (
    FitPhiOption,
    LevelsOption,
    LowBitsOption,
    MethodName,
    MethodOption,
    PhiOption,
    RoundsOption,
    SendOption,
    ThresholdOption,
    WindowOption,
    as_window,
    check_flags,
    make_lehmer,
)
from fedrank.cli._parties import Party, find_dropouts, gather
from fedrank.consensus import Consensus
from fedrank.distances import kemeny_score, kendall_distance
from fedrank.exceptions import Remedy
from fedrank.protocol.federate import as_method, least_bound
from fedrank.protocol.methods import REFINE, Method
from fedrank.protocol.result import MORE_ROUNDS, FederatedConsensus, summary
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.rankings.partial import AnyRankings, PartialRankings
from fedrank.schemes.refine import Refine

MAX_SHOWN_CLIENTS = 20  # rows of the table of clients
IN_ONE_PLACE = "all in one place (counts every ranking)"  # as means, the default, do not


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
    method: MethodOption = MethodName.BORDA,
    send: SendOption = None,
    levels: LevelsOption = None,
    phi: PhiOption = None,
    low_bits: LowBitsOption = None,
    window: WindowOption = None,
    rounds: RoundsOption = None,
    fit_phi: FitPhiOption = False,
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
    threshold: ThresholdOption = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLIENT:ROUND:STEP",
            help="Simulate a client that drops out, and the first step that it does not answer: "
            "share, mask (the default) or unmask. CLIENT and CLIENT:STEP mean the first round, "
            "which is round 0. May be repeated.",
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

    Example: fedrank federate ballots.csv --by Precinct --send sums --json
    """
    output.check_out(out, files)
    parties = gather(files, by, clients, users, how, seed, mixed)
    partial = any(isinstance(party.rankings, PartialRankings) for party in parties)
    options: dict[str, Any] = {"send": send, "levels": levels, "phi": phi}
    options |= {"low_bits": low_bits, "window": as_window(window), "rounds": rounds}
    made = make_method(parties, method, options, max_samples, fit_phi, partial)
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
    options: Mapping[str, Any],
    max_samples: int | None,
    fit_phi: bool,
    partial: bool,
) -> Method:
    """Make the method, for clients about as large as the largest unless a bound is given."""
    data = [party.rankings for party in parties]
    given = {key: value for key, value in options.items() if value is not None}
    check_flags(name, given)
    if name is MethodName.LEHMER:
        given = {"low_bits": "0"} | given
        bound = max_samples or (least_bound(data) if given["low_bits"] == "paper" else None)
        return make_lehmer(data[0].n, len(data), given, bound)
    given |= {"partial": partial} if partial else {}
    given |= {"max_samples": max_samples} if max_samples else {}
    return as_method(name.value, data, given, fit_phi)


def describe(
    parties: Sequence[Party],
    result: FederatedConsensus,
    central: Consensus,
    rankings: AnyRankings,
    seed: int,
) -> dict[str, Any]:
    """Gather what a run gave and cost, beside the central consensus."""
    told = summary(result, FLAGS[Remedy.SUMS])
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
        rows.append(("rounds", say_rounds(document["rounds"]), ""))
    if result.converged is not None:
        rows.append(("converged", "yes" if result.converged else f"no: {MORE_ROUNDS}", ""))
    if result.exact is not None:
        rows.append(("proved to be the best", say_proved(result), ""))
    if result.fit is not None:
        rows.append(("phi, fitted", f"{result.fit.phi:.4f} ± {result.fit.standard_error:.2g}", ""))
    if result.note is not None:
        rows.append(("note", result.note, ""))
    output.show("What it gives and costs", ["", "federated", IN_ONE_PLACE], rows)


def say_proved(result: FederatedConsensus) -> str:
    """Say whether the result is proved to be the best, or why that was not tested."""
    if result.exact:
        return "yes"
    scheme = result.scheme
    if not isinstance(scheme, Refine) or scheme.counts:
        return "no"
    refined = [each for each in result.rounds if each.round.stage == REFINE and each.survivors]
    segments = [segment for each in refined for segment in each.scheme.segments]
    asked = sum(segment.entries for segment in segments if segment.name == "margin")
    if asked == scheme.n * (scheme.n - 1) // 2:
        return "no"
    return "not tested without the number of rankings"


def say_rounds(stages: Sequence[str]) -> str:
    """Say how many rounds of which stage there were, in turn.

    Examples
    --------
    >>> say_rounds(["start", "refine", "refine"])
    'start, 2 × refine'
    """
    runs = [(stage, len(list(same))) for stage, same in groupby(stages)]
    return ", ".join(stage if count == 1 else f"{count} × {stage}" for stage, count in runs)


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
