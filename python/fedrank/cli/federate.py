"""``fedrank federate``: the whole protocol among the files of a folder."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import fedrank
from fedrank._progress import Progress
from fedrank._validation import as_phi, few
from fedrank.cli import _output as output
from fedrank.cli import _reading
from fedrank.consensus import Consensus
from fedrank.data import read_sushi
from fedrank.distances import kemeny_score, kendall_distance
from fedrank.protocol.federate import FEWEST, STEPS, FederatedConsensus
from fedrank.protocol.study import Study
from fedrank.rankings.partial import AnyRankings
from fedrank.schemes import Borda, Lehmer
from fedrank.schemes.lehmer import MOST_LOW_BITS

SHOWN = 20  # clients in the table


class Method(StrEnum):
    """What the clients send."""

    BORDA = "borda"
    LEHMER = "lehmer"
    KEMENY = "kemeny"


@dataclass(frozen=True)
class Party:
    """A client: its name, what else it may be called, and its rankings."""

    name: str
    rankings: AnyRankings
    file: Path | None = None


def federate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="A file a client, or one file of all.")
    ],
    by: Annotated[
        str | None, typer.Option(help="Column of the one file that names the clients.")
    ] = None,
    clients: Annotated[
        int | None, typer.Option(min=1, help="Deal the one file's rankings to so many clients.")
    ] = None,
    users: Annotated[
        Path | None, typer.Option(help="Sushi's users: the clients are their regions.")
    ] = None,
    method: Annotated[
        Method,
        typer.Option(help="What the clients send; kemeny is Borda, then margins of near items."),
    ] = Method.BORDA,
    phi: Annotated[
        float, typer.Option(min=0, max=1, help="Dispersion that the scheme reckons with.")
    ] = 0.6,
    quantize: Annotated[
        bool,
        typer.Option(
            "--quantize/--unquantized",
            help="Borda: every client counts the same, or every ranking does (exact sums).",
        ),
    ] = True,
    low_bits: Annotated[
        str | None, typer.Option(help='Lehmer: bits sent one-hot, a number or "paper".')
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(min=1, help="Kemeny: places that two items are apart, at most (8)."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Kemeny: rounds after Borda's, at most (1).")
    ] = None,
    fit_phi: Annotated[
        bool, typer.Option("--fit-phi", help="One more round: how widely the rankings scatter.")
    ] = False,
    max_samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most rankings a client may hold, which all learn; if not given, the least of "
            "1, 3, 7, 15, … that suffices, so that it tells the largest client's size but roughly.",
        ),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure/--no-secure", help="Mask the messages, or sum them bare.")
    ] = True,
    threshold: Annotated[
        int | None, typer.Option(min=1, help="Clients that must stay; two thirds if not given.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLIENT:STEP",
            help="A client that vanishes before share, mask (if no step is given) or unmask; "
            "may be repeated.",
        ),
    ] = None,
    allow_few: Annotated[
        bool, typer.Option("--allow-few", help="Open a sum over fewer than three clients.")
    ] = False,
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
    """Find the consensus of many parties' rankings by masked messages.

    Each FILE is a client, called by the file's name without its ending; or one
    FILE holds all, and --by, --clients or --users says whose each ranking is.

    Keys, shares and messages are real, but this one process reads all files:
    it shows what a federation gives and costs, and hides nothing from you.

    Example: fedrank federate votes/*.soc --method borda --drop precinct-3

    Example: fedrank federate ballots.csv --by Precinct --unquantized --json
    """
    output.check_out(out, files)
    how = _reading.reading(
        layout, base, genes, genes_in, candidates, choices, overvote, keep_blank, keep_ties
    )
    if keep_ties and (method is Method.LEHMER or fit_phi):
        needs = "--fit-phi" if fit_phi else "--method lehmer"
        raise ValueError(f"{needs} needs complete rankings: leave out --keep-ties")
    parties = gather(files, by, clients, users, how, seed)
    scheme = make_scheme(parties, method, phi, quantize, low_bits, max_samples, keep_ties)
    options = refining(method, scheme, window, rounds)
    lost = find_dropouts(parties, drop or [])
    if secure:
        check_enough(lost, Study(scheme, threshold=threshold), allow_few)
    result = fedrank.federate(
        [party.rankings for party in parties],
        "kemeny" if options else scheme,
        secure,
        threshold,
        lost,
        _reading.stream(seed, 2),
        allow_few=allow_few,
        fit_phi=fit_phi,
        **options,
    )
    rankings = together([parties[client] for client in result.survivors])
    central = fedrank.aggregate(rankings, method.value, rng=_reading.stream(seed, 3))
    document = describe(parties, result, central, rankings, seed)
    output.deliver(document, result.consensus, as_json, out)
    if not as_json:
        show(parties, result, central, document, top)
        output.say_where(out, "consensus")


def gather(
    files: Sequence[Path],
    by: str | None,
    clients: int | None,
    users: Path | None,
    how: _reading.Reading,
    seed: int,
) -> list[Party]:
    """Read the clients' rankings, all with their items in one order."""
    asked = {"--by": by, "--clients": clients, "--users": users}
    given = [flag for flag, value in asked.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} both say who the clients are: give one")
    if not given:
        return read_parties(files, how, seed)
    if len(files) > 1:
        raise ValueError(f"{given[0]} splits one file, and {len(files)} are given")
    rng = _reading.stream(seed, 0, 0)
    if by is not None:
        found = how.read_groups(files[0], by, rng)
        return [Party(name, rankings) for name, rankings in found.items()]
    if users is not None:
        if how.layout not in (None, _reading.Layout.SUSHI):
            raise ValueError(f"--users goes with --layout sushi, not {how.layout}")
        if how.keeps_ties:
            raise ValueError("Sushi's rankings have no ties: leave out --keep-ties")
        _reading.check_file(files[0])
        _reading.check_file(users)
        regions = read_sushi(files[0], users)
        return [Party(f"region {region}", rankings) for region, rankings in regions.items()]
    parts: Sequence[AnyRankings] = how.read(files[0], rng).split(
        clients or 0, _reading.stream(seed, 1)
    )
    return [Party(str(client), part) for client, part in enumerate(parts)]


def read_parties(files: Sequence[Path], how: _reading.Reading, seed: int) -> list[Party]:
    """Read a file a client."""
    for i, file in enumerate(files):
        _reading.check_file(file)
        if file.resolve() in [other.resolve() for other in files[:i]]:
            raise ValueError(f"{file} is given twice")
    if len(files) == 1:
        raise ValueError(
            f"{files[0]} is one client: give more files, or split it with --by or --clients"
        )
    parties: list[Party] = []
    with Progress("reading", len(files)) as progress:
        for i, (name, file) in enumerate(zip(names_of(files), files, strict=True)):
            rankings = how.read(file, _reading.stream(seed, 0, i))
            first = parties[0] if parties else None
            parties.append(Party(name, aligned(file, rankings, first), file))
            progress.advance()
    return parties


def names_of(files: Sequence[Path]) -> list[str]:
    """Shortest names that tell the files apart: stem, name or path.

    Examples
    --------
    >>> names_of([Path("a/x.soc"), Path("a/y.csv.gz")])
    ['x', 'y']
    >>> names_of([Path("a/x.soc"), Path("a/x.csv")])
    ['x.soc', 'x.csv']
    """
    stems = [Path(file.name.removesuffix(".gz")).stem for file in files]
    names = [file.name for file in files]
    return next(
        (some for some in (stems, names) if len(set(some)) == len(files)), list(map(str, files))
    )


def aligned(file: Path, rankings: AnyRankings, first: Party | None) -> AnyRankings:
    """Put the items into the order of the first client's."""
    if first is None or rankings.item_labels == first.rankings.item_labels:
        if first is not None and rankings.n != first.rankings.n:
            raise ValueError(
                f"{file} ranks {rankings.n} items, and {first.file} {first.rankings.n}: "
                "all clients must rank the same"
            )
        return rankings
    theirs, ours = (set(each.items) for each in (rankings, first.rankings))
    if theirs == ours:
        return rankings.align(first.rankings.items)
    lacks = [label for label in first.rankings.items if label not in theirs]
    more = [label for label in rankings.items if label not in ours]
    said = [f"{word} {few(some)}" for word, some in (("lacks", lacks), ("adds", more)) if some]
    raise ValueError(
        f"{file} {' and '.join(said)}, compared with {first.file}: "
        "all clients must rank the same items"
    )


def make_scheme(
    parties: Sequence[Party],
    method: Method,
    phi: float,
    quantize: bool,
    low_bits: str | None,
    max_samples: int | None,
    partial: bool,
) -> Borda | Lehmer:
    """Make the scheme, for clients about as large as the largest unless told."""
    largest = max(parties, key=lambda party: len(party.rankings))
    if max_samples is not None and len(largest.rankings) > max_samples:
        raise ValueError(
            f"client {largest.name!r} has {len(largest.rankings)} rankings, "
            f"more than --max-samples {max_samples}"
        )
    # The bound is public, and how many rankings a client has is its own affair.
    n, most = largest.rankings.n, max_samples or 2 ** len(largest.rankings).bit_length() - 1
    if not quantize and method is not Method.BORDA:
        raise ValueError("--unquantized goes with --method borda")
    if method is not Method.LEHMER:
        if low_bits is not None:
            raise ValueError("--low-bits goes with --method lehmer")
        exact = most if method is Method.KEMENY or not quantize else None
        return Borda(n, len(parties), as_phi(phi), quantize, max_samples or exact, partial)
    if low_bits == "paper":
        try:
            return Lehmer(n, len(parties), as_phi(phi), "paper", most)
        except ValueError as error:
            raise ValueError(f"--low-bits paper: {error}") from None
    bits = low_bits or "0"
    if not (bits.isascii() and bits.isdigit() and len(bits) < 3 and int(bits) <= MOST_LOW_BITS):
        raise ValueError(
            f'--low-bits must be a whole number up to {MOST_LOW_BITS} or "paper", not {low_bits!r}'
        )
    return Lehmer(n, len(parties), as_phi(phi), int(bits), max_samples)


def refining(
    method: Method, scheme: Borda | Lehmer, window: int | None, rounds: int | None
) -> dict[str, Any]:
    """Options of a refinement; none for the other methods."""
    asked = {"window": window, "rounds": rounds}
    given = {name: value for name, value in asked.items() if value is not None}
    if method is Method.KEMENY:
        return {"phi": scheme.phi, "max_samples": scheme.max_samples, **given}
    if given:
        raise ValueError(f"--{next(iter(given))} goes with --method kemeny")
    return {}


def find_dropouts(parties: Sequence[Party], drop: Sequence[str]) -> dict[int, str]:
    """Clients that vanish, and before which step, from ``name`` or ``name:step``."""
    index: dict[str, int] = {}
    for client, party in enumerate(parties):
        if party.file is not None:
            index |= dict.fromkeys((party.file.name, str(party.file)), client)
    index |= {party.name: client for client, party in enumerate(parties)}
    lost: dict[int, str] = {}
    for asked in drop:
        name, colon, step = asked.rpartition(":")
        if asked in index or not colon:
            name, step = asked, "mask"
        if name not in index:
            known = few([party.name for party in parties])
            raise ValueError(f"--drop {asked}: there is no client {name!r}; they are {known}")
        if step not in STEPS[1:]:
            raise ValueError(f"--drop {asked}: {step!r} is not one of {', '.join(STEPS[1:])}")
        if index[name] in lost:
            raise ValueError(f"--drop {asked}: {name!r} is dropped twice")
        lost[index[name]] = step
    return lost


def check_enough(lost: dict[int, str], study: Study, allow_few: bool) -> None:
    """Refuse a sum that shows too much of each client, or cannot be unmasked."""
    clients = len(study.roster)
    if clients == 1:
        raise ValueError("one client has nobody to hide among: make more, or say --no-secure")
    summed = clients - sum(step != "unmask" for step in lost.values())
    if summed < FEWEST and not allow_few:
        raise ValueError(
            f"only {summed} of {clients} clients would be in the sum, which shows too much of "
            f"each: at least {FEWEST}, or say --allow-few"
        )
    if clients - len(lost) < study.threshold:
        raise ValueError(
            f"only {clients - len(lost)} of {clients} clients would stay to the end, and "
            f"{study.threshold} must: drop fewer, or choose another --threshold"
        )


def together(parties: Sequence[Party]) -> AnyRankings:
    """All rankings of these clients."""
    first = parties[0].rankings
    ranks = np.concatenate([party.rankings.ranks for party in parties])
    return first._trusted(ranks, first.item_labels)


def describe(
    parties: Sequence[Party],
    result: FederatedConsensus,
    central: Consensus,
    rankings: AnyRankings,
    seed: int,
) -> dict[str, Any]:
    """Gather what a run gave and cost."""
    return {
        "version": fedrank.__version__,
        "seed": seed,
        "method": result.consensus.method,
        "scheme": json.loads(result.study.scheme.to_json()),
        "secure": result.secure,
        "threshold": result.study.threshold if result.secure else None,
        "items": rankings.n,
        "rankings": len(rankings),
        "clients": [
            {
                "name": party.name,
                "rankings": len(party.rankings),
                "in_sum": client in result.survivors,
                "dropped_before": result.dropped.get(client),
                "bytes_sent": int(result.bytes_up[client]),
                "bytes_received": int(result.bytes_down[client]),
                "bytes_of_rankings": output.raw_bytes(len(party.rankings), rankings.n),
            }
            for client, party in enumerate(parties)
        ],
        "seconds": sum(result.seconds.values()),
        "rounds": len(result.rounds),
        "note": result.note,
        "phi": result.fit and {"estimate": result.fit.phi, "error": result.fit.standard_error},
        "kemeny_score": kemeny_score(result.consensus, rankings),
        "exact": result.consensus.exact,
        "ties": result.consensus.ties,
        "central": {
            "kemeny_score": kemeny_score(central, rankings),
            "kendall_distance": kendall_distance(result.consensus, central),
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
    columns = output.mean_places(result.consensus)
    columns["central_place"] = [str(place) for place in central.ranks]
    output.show_places("Federated consensus", result.consensus, top, **columns)
    show_clients(document["clients"])
    sent = [client for client in document["clients"] if client["in_sum"]]
    others = document["central"]
    how = "masked" if result.secure else "bare"
    rows = [
        ("method", f"{result.consensus.method}, {how}", central.method),
        ("rankings in the sum", f"{document['rankings']:,}", "the same"),
        ("Kemeny score", f"{document['kemeny_score']:.8g}", f"{others['kemeny_score']:.8g}"),
        ("pairs ordered otherwise", f"{others['kendall_distance']:,}", ""),
        ("clients in the sum", f"{len(sent):,} of {len(parties):,}", ""),
        ("dropped out", dropouts(document["clients"]), ""),
        (
            "bytes a client sends, at most",
            f"{max(client['bytes_sent'] for client in sent):,}",
            f"{max(client['bytes_of_rankings'] for client in sent):,} (its rankings)",
        ),
        ("time, all parties", f"{document['seconds'] * 1e3:.0f} ms", ""),
    ]
    if document["rounds"] > 1:
        rows.append(("rounds, the first included", str(document["rounds"]), ""))
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
        for client in clients[:SHOWN]
    ]
    if len(clients) > SHOWN:
        rows.append([f"… {len(clients) - SHOWN:,} more", "", "", ""])
    output.show("Clients", ["client", "rankings", "bytes sent", "raw bytes"], rows)


def dropouts(clients: Sequence[dict[str, Any]]) -> str:
    """Names of the lost clients, and when they were lost.

    Examples
    --------
    >>> dropouts([{"name": "a", "dropped_before": "mask"}, {"name": "b", "dropped_before": None}])
    'a (before mask)'
    """
    lost = [client for client in clients if client["dropped_before"] is not None]
    said = [f"{client['name']} (before {client['dropped_before']})" for client in lost]
    return ", ".join(said) or "nobody"
