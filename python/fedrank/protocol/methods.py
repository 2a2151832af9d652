"""Methods: which rounds of a study follow each other, and what their sums add up to.

Borda and Lehmer are methods of one round and their own scheme. `Kemeny` begins with a round of
Borda and goes on with rounds of `Refine` around the announced consensus. A study with ``fit_phi``
adds one round of `Dispersion` at the end. What a round asks for follows from the method, the
round's stage and the orders announced so far, all of which are public: `scheme_of` tells it to the
server and to every client alike.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._frozen import Frozen
from fedrank._json import canonical
from fedrank._validation import as_bool, whole
from fedrank.exceptions import InputError
from fedrank.schemes import KINDS, AnyScheme, Borda, Dispersion, Lehmer, Refine
from fedrank.schemes.base import needed_bound, only_true
from fedrank.schemes.refine import AUTO, as_window

START, REFINE, DISPERSION = "start", "refine", "dispersion"
"""The stages that a round can be of."""

START_LEVELS = 8  # steps per place of the weighted means that `Kemeny` begins with
MAX_ROUNDS = 100  # of refinement, if the study sets no limit: a dozen are enough for 978 genes


class Kemeny(Frozen):
    """A federated Kemeny consensus (M14): Borda first, then refinements around what it found.

    The rounds go on until nothing moves, the consensus is proved to be the best, or ``rounds`` are
    spent; `Consensus.converged` tells. No pair of items is asked for twice.

    Parameters
    ----------
    n : int
        Number of items.
    clients : int
        Most clients that take part.
    start : Borda, optional
        The scheme of the first round; by default ``Borda(n, clients, send="weighted", levels=8)``
        with the same ``max_samples`` and ``partial``: it counts rankings, as margins do. Weighted
        means are coarse where clients hold far fewer rankings than ``max_samples``; the
        consensus is the same, but it takes more rounds and bits to find. State a bound near the
        largest client, or start with exact sums: ``Borda(…, send="sums")``. A start that counts
        clients (``send="means"``) together with margins, which count rankings, may separate the
        last two honest clients if the others collude.
    window : int or "auto"
        How many places apart items may be for their margin to be asked for. ``"auto"`` begins with
        neighbours and widens where items move: see `fedrank.schemes.Refine`.
    rounds : int, optional
        Most rounds of refinement. By default they go on until nothing moves, at most 100.
    counts, majority, max_samples, partial
        As in `fedrank.schemes.Refine`. The start must allow as many samples, or more.

    Examples
    --------
    >>> from fedrank import Study
    >>> study = Study(Kemeny(n=5, clients=3, window=2, max_samples=50))
    >>> study.round(0).scheme.kind, study.round(1, orders=[[4, 3, 2, 1, 0]]).scheme.kind
    ('borda', 'refine')
    """

    kind = "kemeny"

    def __init__(
        self,
        n: int,
        clients: int,
        *,
        start: Borda | None = None,
        window: int | str = AUTO,
        rounds: int | None = None,
        counts: bool = False,
        majority: bool = False,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        self.n = whole("n", n)
        self.clients = whole("clients", clients)
        self.partial = as_bool("partial", partial)
        if start is None:
            # Margins count rankings, so the start does; majorities count clients.
            sent: dict[str, Any] = (
                {"send": "means"} if majority else {"send": "weighted", "levels": START_LEVELS}
            )
            start = Borda(
                self.n, self.clients, **sent, max_samples=max_samples, partial=self.partial
            )
        if not isinstance(start, Borda):
            raise InputError(
                f"must be a Borda scheme, not {start!r}", parameter="start", value=start
            )
        if (start.n, start.clients, start.partial) != (self.n, self.clients, self.partial):
            raise InputError(
                f"is made for {start.n} items, {start.clients} clients and partial="
                f"{start.partial}, but the method for {self.n}, {self.clients} and {self.partial}",
                parameter="start",
                value=start,
                remedy="make both with the same n, clients and partial",
            )
        self.start = start
        self.window = as_window(window)
        self.rounds = None if rounds is None else whole("rounds", rounds)
        self.counts, self.majority = as_bool("counts", counts), as_bool("majority", majority)
        # Checks the rest, and fixes the bound on samples.
        self.max_samples = Refine(
            np.arange(self.n),
            clients,
            window,
            counts=counts,
            majority=majority,
            max_samples=max_samples,
            partial=partial,
        ).max_samples
        if start.max_samples is not None and start.max_samples < (self.max_samples or 0):
            raise InputError(
                f"allows {start.max_samples} rankings per client, fewer than the method's "
                f"max_samples of {self.max_samples}",
                parameter="start",
                value=start,
                remedy=f"make the start with max_samples={self.max_samples} or more, or the method "
                f"with max_samples={start.max_samples}",
            )
        self._freeze()

    @property
    def most_rounds(self) -> int:
        """How many rounds of refinement there can be."""
        return MAX_ROUNDS if self.rounds is None else self.rounds

    def refine(self, orders: Sequence[Sequence[int]]) -> Refine:
        """Make the scheme of the round that announces the last of these orders.

        Parameters
        ----------
        orders : sequence of sequences of int
            Item numbers, best first: all that were announced so far, the new one last.

        Examples
        --------
        >>> Kemeny(n=3, clients=2, window=1, max_samples=9).refine([[2, 0, 1]]).ranks
        array([1, 2, 0], dtype=int32)
        """
        *earlier, ranks = map(ranks_of, orders)
        return Refine(
            ranks,
            self.clients,
            self.window,
            counts=self.counts,
            majority=self.majority,
            max_samples=self.max_samples,
            earlier=earlier,
            partial=self.partial,
        )

    def _parameters(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "clients": self.clients,
            "start": {"scheme": self.start.kind} | self.start._parameters(),
            "window": self.window,
            "rounds": self.rounds,
            "counts": self.counts,
            "majority": self.majority,
            "max_samples": self.max_samples,
        } | only_true(partial=self.partial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kemeny) and method_json(self) == method_json(other)

    def __hash__(self) -> int:
        return hash(canonical(method_json(self)))

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._parameters().items() if name != "start"}
        text = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"Kemeny({text}, start={self.start!r})"


Method: TypeAlias = Borda | Lehmer | Refine | Kemeny
"""What a study can hold. All of them end in a consensus; a `Refine` is around a public ranking."""


def check_method(method: object) -> Method:
    """Check that a study can hold this method.

    Examples
    --------
    >>> check_method(Borda(2, 3)).kind
    'borda'
    """
    if not isinstance(method, Borda | Lehmer | Refine | Kemeny):
        raise InputError(
            f"must be a Borda, Lehmer, Refine or Kemeny, not {method!r}",
            parameter="method",
            value=method,
        )
    if isinstance(method, Refine) and len(method.earlier):
        raise InputError(
            "is a later round of a refinement, which needs the earlier rounds",
            parameter="method",
            value=method,
            remedy="use Kemeny, which conducts all rounds",
        )
    return method


def method_json(method: Method) -> dict[str, Any]:
    """Write a method as the fields of JSON."""
    return {"method": method.kind} | method._parameters()


def method_from_json(fields: object) -> Method:
    """Read what `method_json` wrote.

    Raises
    ------
    ValueError
        If these are not the fields of a method.

    Examples
    --------
    >>> method_from_json(method_json(Borda(2, 3))) == Borda(2, 3)
    True
    """
    kinds: dict[str, Any] = {kind: KINDS[kind] for kind in ("borda", "lehmer", "refine")}
    kinds["kemeny"] = Kemeny
    named = fields.get("method") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(named, str) or named not in kinds:
        raise InputError(
            f'the field "method" of the method must be one of {", ".join(kinds)}, not {named!r}',
            value=named,
        )
    parameters = {name: value for name, value in fields.items() if name != "method"}
    try:
        if "start" in parameters:
            if not isinstance(parameters["start"], dict):
                raise InputError("the start of the method must be an object")
            start = dict(parameters["start"])
            if start.pop("scheme", None) != Borda.kind:
                raise InputError('the start of the method must have "scheme": "borda"')
            parameters["start"] = Borda(**start)
        return check_method(kinds[named](**parameters))
    except TypeError as error:
        raise InputError(
            f"the method {named} has a field that is unknown, missing or of a wrong type ({error})",
            value=named,
        ) from None


def scheme_of(
    method: Method, fit_phi: bool, stage: str, orders: Sequence[Sequence[int]]
) -> AnyScheme:
    """Tell what a round asks for, or refuse a round that the study does not have.

    Parameters
    ----------
    method : Method
        The study's method.
    fit_phi : bool
        Whether the study ends with a round of dispersion.
    stage : {"start", "refine", "dispersion"}
        Which kind of round.
    orders : sequence of sequences of int
        The orders announced so far, one per later round, this round's last.

    Examples
    --------
    >>> scheme_of(Borda(2, 3, max_samples=50), True, "dispersion", [[1, 0]]).kind
    'dispersion'
    """
    number = len(orders)
    if stage == START and number == 0:
        return method.start if isinstance(method, Kemeny) else method
    if stage == REFINE and isinstance(method, Kemeny) and 1 <= number <= method.most_rounds:
        return method.refine(orders)
    if stage == DISPERSION and fit_phi and number > 0:
        bound = bound_of(method, fit_phi)
        assert bound is not None, "a study that fits phi has a bound"
        return Dispersion(ranks_of(orders[-1]), method.clients, max_samples=bound)
    raise InputError(f"this study has no round {number} of stage {stage!r}", value=stage)


def bound_of(method: Method, fit_phi: bool = False) -> int | None:
    """Tell the most rankings that a client may hold in all rounds of a study; None for no bound.

    Raises
    ------
    ValueError
        If there is none, and ``fit_phi`` needs one.

    Examples
    --------
    >>> bound_of(Kemeny(5, 3, max_samples=63)), bound_of(Borda(5, 3))
    (63, None)
    """
    bounds = [method.max_samples, method.start.max_samples if isinstance(method, Kemeny) else None]
    bound = min((each for each in bounds if each is not None), default=None)
    return needed_bound(bound, "distances (fit_phi)") if fit_phi else bound


def next_stage(method: Method, number: int) -> str:
    """Tell the stage that round ``number`` has unless the server says that the refinement ended."""
    if number == 0:
        return START
    return REFINE if isinstance(method, Kemeny) and number <= method.most_rounds else DISPERSION


def ranks_of(order: ArrayLike) -> NDArray[np.int32]:
    """Positions of the items of an announced order.

    Examples
    --------
    >>> ranks_of([2, 0, 1])
    array([1, 2, 0], dtype=int32)
    """
    items = np.asarray(order)
    n = len(items) if items.ndim == 1 else 0
    if n == 0 or items.dtype.kind not in "iu" or not np.array_equal(np.sort(items), np.arange(n)):
        raise InputError("an announced order must name every item number once", value=order)
    ranks: NDArray[np.int32] = _core.invert(items.astype(np.int32)[np.newaxis])[0]
    return ranks
