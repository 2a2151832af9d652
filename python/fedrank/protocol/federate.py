"""The whole protocol in one process: real clients and a real server, over bytes."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from numpy.typing import ArrayLike

from fedrank._progress import Progress, show
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_bool, as_list, plural
from fedrank.exceptions import InputError, Remedy
from fedrank.protocol.clients import Client, client_ids
from fedrank.protocol.driver import Driver
from fedrank.protocol.dropouts import check_dropouts, never_dropped
from fedrank.protocol.identity import Identity
from fedrank.protocol.meter import Meter
from fedrank.protocol.methods import START_LEVELS, Kemeny, Method, bound_of, check_method
from fedrank.protocol.result import FederatedConsensus
from fedrank.protocol.roster import as_names
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.protocol.study import Study
from fedrank.rankings.combine import align_all, source_of
from fedrank.rankings.complete import Rankings
from fedrank.rankings.labelled import Labelled
from fedrank.rankings.partial import AnyRankings, PartialRankings, as_partial
from fedrank.schemes import Borda, Lehmer
from fedrank.transport.inprocess import InProcess

Kind = TypeVar("Kind", Rankings, PartialRankings)
Each = TypeVar("Each", bound=Labelled)


def federate(
    clients: Sequence[ArrayLike] | Mapping[str, ArrayLike],
    method: Method | str = "borda",
    *,
    secure: bool = True,
    identities: bool = False,
    threshold: int | None = None,
    dropouts: Mapping[Any, str | tuple[int, str]] | Iterable[Client] = (),
    rng: RNG = None,
    min_survivors: int = MIN_SURVIVORS,
    fit_phi: bool = False,
    progress: bool = False,
    **options: Any,
) -> FederatedConsensus:
    """Find the consensus of rankings that stay with their clients.

    Runs the whole protocol in this process: real keys, real shares, real bytes. The server's
    part sees nothing but the bytes.

    Parameters
    ----------
    clients : dict of str to array_like of int, or sequence of these, each of shape (m, n)
        The rankings of each client by its name, which results and errors then use; in a sequence
        clients are numbered from 0. Arrays, data frames, or `Rankings` of the same labels: labels
        decide, so their order may differ, and that of the first client is used. If a client has
        `PartialRankings`, all take part as such: named methods are made with ``partial=True``. If
        that is given, or the method's, arrays are read as such.
    method : Borda, Lehmer, Kemeny, schemes.Refine, "borda", "lehmer" or "kemeny"
        Which rounds are run, and what is sent; a name stands for that method with ``options``.
        ``"kemeny"`` is Borda, then refinements around its consensus, until nothing moves or
        ``rounds`` are spent: ``converged`` tells. No pair is asked for twice. If other clients
        survive a later round than the first, that round is not opened, since the difference could
        show one client's message; the consensus is then the last one, and ``note`` says so.
    secure : bool
        Whether to mask the messages. False sums them in the clear, for experiments: the
        consensus is the same, bit for bit.
    identities : bool
        Whether to make identities for all parties, and to use them as between machines: messages
        are signed and sealed, and clients confirm the survivors before a sum is opened. The
        consensus is the same. Not with ``secure=False``.
    threshold : int, optional
        How many clients must stay to the end; ``2L//3 + 1`` by default. In the clear there is
        none: the messages of all clients that are left are summed.
    dropouts : dict of (str or int) to str, or iterable of str or int
        Clients that vanish (names, or numbers if they have no names), and the first step that
        they do not answer: ``"share"``, ``"mask"`` (the masked input is never sent; for clients
        that are only listed) or ``"unmask"`` (the input is in the sum). ``(round, step)`` is that
        step of a later round, the first round being 0. A client that has vanished does not come
        back. If the run ends before that round, ``note`` of the result says so.
    rng : None, int or numpy.random.Generator
        Breaks ties. What client ``l`` draws depends on the seed, ``l`` and the round only. No
        secret comes from here.
    min_survivors : int
        Fewest clients whose sum may be opened. Below 3 a sum shows too much of each client.
    fit_phi : bool
        Whether to run one more round, with a `schemes.Dispersion`, for ``fit`` of the result: how
        widely the rankings scatter around the consensus. It reveals how many there are.
    progress : bool
        Whether to draw a progress bar on standard error, from two seconds on.
    **options
        Parameters of the method, if it is given by name. For ``"kemeny"``: ``window`` ("auto"),
        ``rounds`` of refinement at most (no limit), ``counts``, ``majority`` and ``max_samples`` of
        `schemes.Refine`, ``send``, ``levels`` and ``phi`` of `Borda`, and ``partial`` of both.
        Where a method needs ``max_samples`` and none is given, it is the least ``2^k - 1`` that is
        enough.

    Returns
    -------
    result : FederatedConsensus

    Raises
    ------
    ValueError
        If the input is invalid, or (as `exceptions.RunFailedError`) too few clients are left.

    Examples
    --------
    >>> from fedrank import Mallows, kendall_distance
    >>> hospitals = Mallows(0.6, n=20).sample(2000, rng=0).split(10, rng=0)
    >>> result = federate(hospitals, "borda", dropouts=[3, 7], rng=0)
    >>> result.survivors
    [0, 1, 2, 4, 5, 6, 8, 9]
    >>> result.top(5)
    (0, 1, 2, 3, 4)

    With names:

    >>> named = federate(dict(zip(["north", "east", "south"], hospitals)), rng=0)
    >>> named.survivors
    ['north', 'east', 'south']

    A second round, of margins, is nearer to the center:

    >>> wards = Mallows(0.6, n=50).sample(50, rng=0).split(10, rng=0)
    >>> near, nearer = (federate(wards, method, rng=0) for method in ("borda", "kemeny"))
    >>> [kendall_distance(each, range(50)) for each in (near, nearer)]
    [3, 1]
    """
    if "base" in options:
        raise InputError(
            "federate has no option 'base'",
            value=options["base"],
            remedy="pass it to the rankings of each client, as in Rankings(ranks, base=1)",
        )
    roster, given = named_clients(clients)
    secure, identities = as_bool("secure", secure), as_bool("identities", identities)
    if identities and not secure:
        raise InputError(
            "is for secure runs only: nothing is signed or sealed in the clear",
            parameter="identities",
            value=True,
            remedy="leave it out, or pass secure=True",
        )
    takes_partial = bool(options.get("partial", getattr(method, "partial", False)))
    data: list[AnyRankings] = [
        as_client(client, each, PartialRankings)
        if isinstance(each, PartialRankings) or (takes_partial and not isinstance(each, Rankings))
        else as_client(client, each, Rankings)
        for client, each in zip(ids_of(roster, given), given, strict=True)
    ]
    sources = tuple(each.source for each in data)
    data = check_clients(data, roster)
    partial = next((i for i, each in enumerate(data) if isinstance(each, PartialRankings)), None)
    if partial is not None:
        data = [as_partial(each) for each in data]
        options = partial_options(method, fit_phi, options, ids_of(roster, given)[partial])
    chosen = as_method(method, data, options, fit_phi)
    keys = [Identity.generate() for _ in data] if identities else None
    coordinator = None if keys is None else Identity.generate()
    study = Study(
        chosen,
        data[0].item_labels,
        roster if keys is None else dict(zip(as_names(roster, len(data)), keys, strict=True)),
        threshold,
        coordinator,
        fit_phi=fit_phi,
    )
    check_samples(data, study)
    if secure and len(data) == 1:
        raise InputError(
            "one client has no others to hide among",
            remedy=Remedy.INSECURE,
        )
    seed = seed_bytes(rng)
    lost = check_dropouts(dropouts, study)
    with show(as_bool("progress", progress)), Progress("federate") as bar:
        sizes = [len(each) for each in data]
        meter = Meter(study, sizes, secure, bar) if bar.drawing else None
        transport = InProcess(study, data, seed, secure, lost, meter, keys)
        driver = Driver(study, transport, secure, min_survivors, seed, 0, coordinator)
        result = driver.conduct()
    note = "; ".join(filter(None, [result.note, never_dropped(lost, result)])) or None
    differ = len({str(each) for each in sources}) > 1
    opened = {each.round.number for each in result.rounds if each.survivors}
    drew = {result.clients[party.me] for party in transport.parties if party.drawn & opened}
    return replace(
        result,
        note=note,
        local_ties=tuple(client for client in result.survivors if client in drew),
        source=source_of(each for each, summed in zip(data, result.in_sum, strict=True) if summed),
        sources=sources if differ else None,
    )


def named_clients(
    clients: Sequence[ArrayLike] | Mapping[str, ArrayLike],
) -> tuple[tuple[str, ...] | None, list[ArrayLike]]:
    """Return the names of the clients, None if they have none, and the rankings of each.

    Examples
    --------
    >>> named_clients({"north": [[0, 1]], "east": [[1, 0]]})
    (('north', 'east'), [[[0, 1]], [[1, 0]]])
    """
    if not isinstance(clients, Mapping):
        one = "__arrow_c_stream__", "__dataframe__", "columns"
        if isinstance(clients, Rankings | PartialRankings) or any(
            hasattr(clients, name) for name in one
        ):
            raise InputError(
                "clients must be a dict or a list with the rankings of each client, not one "
                f"{type(clients).__name__}",
                remedy="Rankings.split deals rankings to clients",
            )
        return None, as_list(clients, "clients")
    for name in cast("Mapping[Hashable, ArrayLike]", clients):
        if not isinstance(name, str):
            raise InputError(
                f"the names of clients must be text, not {name!r}",
                value=name,
                remedy=f"write {str(name)!r}, or pass a list of clients, numbered from 0",
            )
    return tuple(clients), list(clients.values())


def partial_options(
    method: object, fit_phi: bool, options: dict[str, Any], client: Client
) -> dict[str, Any]:
    """Refuse what cannot take partial rankings; tell named methods that they are coming.

    Errors name the first client that has partial rankings.
    """
    found = "but these have ties or gaps"
    if isinstance(method, Lehmer) or method == "lehmer":
        raise InputError(
            f"the method lehmer needs complete rankings, {found}",
            client=client,
            remedy=Remedy.COMPLETE_CLIENTS,
        )
    if fit_phi:
        raise InputError(
            f"fitting phi needs complete rankings, {found}",
            client=client,
            remedy=Remedy.COMPLETE_ONLY,
        )
    if not isinstance(method, str):
        if not getattr(method, "partial", False):
            raise InputError(
                f"the method is made for complete rankings, {found}",
                client=client,
                remedy="make the method with partial=True",
            )
        return options
    if not options.get("partial", True):
        raise InputError(
            "the rankings have ties or gaps", client=client, remedy="leave out partial=False"
        )
    return {"partial": True} | options


def needs_bound(method: str, fit_phi: bool, options: dict[str, Any]) -> bool:
    """Tell whether a method given by name needs a bound on the clients' rankings.

    Examples
    --------
    >>> needs_bound("borda", False, {}), needs_bound("borda", False, {"send": "sums"})
    (False, True)
    """
    if fit_phi or options.get("send") in ("sums", "weighted"):
        return True
    return method == "kemeny" and not options.get("majority")


def as_method(
    method: object, data: list[AnyRankings], options: dict[str, Any], fit_phi: bool = False
) -> Method:
    """Check the method; a name stands for one with these options."""
    n, clients = data[0].n, len(data)
    makers = {"borda": Borda, "lehmer": Lehmer, "kemeny": named_kemeny}
    if isinstance(method, str) and method in makers:
        check_options(method, options)
        if options.get("max_samples") is None and needs_bound(method, fit_phi, options):
            options = options | {"max_samples": least_bound(data)}
        made: Method = makers[method](n, clients, **options)  # type: ignore[operator]
        return made
    if isinstance(method, str):
        raise InputError(
            f"method must be one of {', '.join(makers)}, or a method object, not {method!r}",
            value=method,
        )
    checked = check_method(method)
    if options:
        name = next(iter(options))
        raise InputError(
            f"the option {name!r} is for a method given by name, not for a method object",
            value=name,
            remedy="set it when you make the method",
        )
    if checked.n != n:
        raise InputError(
            f"the method is made for {plural(checked.n, 'item')}, but the clients rank {n}",
            value=checked.n,
            remedy=f"make it with n={n}",
        )
    if checked.clients != clients:
        raise InputError(
            f"the method is made for {plural(checked.clients, 'client')}, but there are {clients}",
            value=checked.clients,
            remedy=f"make it with clients={clients}",
        )
    return checked


def check_options(method: str, options: Iterable[str]) -> None:
    """Refuse options that the method of this name does not have.

    Examples
    --------
    >>> check_options("borda", ["window"])
    Traceback (most recent call last):
        ...
    fedrank.exceptions.InputError: neither federate nor the method 'borda' has an option 'window';
    its options are send, levels, phi, max_samples, partial
    """
    takers = {"borda": (Borda,), "lehmer": (Lehmer,), "kemeny": (Kemeny, Borda)}
    allowed = {
        name: None  # a dict keeps the order
        for taker in takers[method]
        for name, parameter in signature(taker).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY and name != "start"  # made from the options
    }
    for name in options:
        if name not in allowed:
            raise InputError(
                f"neither federate nor the method {method!r} has an option {name!r}",
                value=name,
                remedy=f"its options are {', '.join(allowed)}",
            )


def named_kemeny(n: int, clients: int, **options: Any) -> Kemeny:
    """Make a Kemeny method whose start takes the options of `Borda`."""
    given = ("send", "levels", "phi")
    start: dict[str, Any] = {name: options.pop(name) for name in given if name in options}
    if not start:
        return Kemeny(n, clients, **options)
    # Margins count rankings, so the start does, unless told otherwise.
    if not options.get("majority"):
        start = {"send": "weighted"} | start
    if start.get("send") == "weighted":
        start = {"levels": START_LEVELS} | start
    shared = {name: options[name] for name in ("max_samples", "partial") if name in options}
    return Kemeny(n, clients, start=Borda(n, clients, **start, **shared), **options)


def least_bound(data: Iterable[Sized]) -> int:
    """Return the least ``2^k - 1`` that bounds the number of rankings of every client.

    The bound is public: it reveals only the order of magnitude of the largest client.

    Examples
    --------
    >>> least_bound([[0] * 3, [0] * 20])
    31
    """
    return int(2 ** max(map(len, data)).bit_length() - 1)


def check_samples(data: Sequence[AnyRankings], study: Study) -> None:
    """Refuse a client with more rankings than some round allows, before any round is run."""
    least = bound_of(study.method)
    sizes = [len(each) for each in data]
    largest = max(sizes)
    if least is not None and largest > least:
        raise InputError(
            f"{largest} rankings are more than the bound of {least} per client",
            value=largest,
            client=client_ids(study)[sizes.index(largest)],
            remedy=Remedy.MAX_SAMPLES,
        )


def ids_of(names: Sequence[str] | None, clients: Sequence[object]) -> Sequence[Client]:
    """Return the names of the clients, or their numbers if they have no names."""
    return range(len(clients)) if names is None else names


def as_client(client: Client, rankings: ArrayLike, kind: type[Kind]) -> Kind:
    """Check the rankings of one client; complaints name it."""
    if isinstance(rankings, kind):
        return rankings
    try:
        return kind(rankings)
    except InputError as error:
        error.client = client
        raise


def check_clients(data: Sequence[Each], names: Sequence[str] | None = None) -> list[Each]:
    """Put the items of all clients into one order.

    Refuse no clients, empty ones, and clients that rank different items.
    """
    if not data:
        raise InputError("no clients were given")
    clients = dict(zip(ids_of(names, data), data, strict=True))
    for client, rankings in clients.items():
        if len(rankings) == 0:
            raise InputError("there are no rankings", client=client, remedy="leave the client out")
    return align_all(clients)
