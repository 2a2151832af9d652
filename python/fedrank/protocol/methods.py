"""Methods: which rounds of a study follow each other, and what their sums add up to.

Borda and Lehmer are methods of one round and their own scheme. `Kemeny` begins with a round of
Borda and goes on with rounds of `Refine` around the announced consensus. A study with ``fit_phi``
adds one round of `Dispersion` at the end. What a round asks for follows from the method, the
round's stage and the orders announced so far, all of which are public: `scheme_of` tells it to the
server and to every client alike.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._frozen import Frozen
from fedrank._json import canonical
from fedrank._random import RNG
from fedrank._validation import as_bool, whole
from fedrank.consensus import Consensus
from fedrank.consensus.ties import Searched
from fedrank.exceptions import InputError
from fedrank.schemes import KINDS, AnyScheme, Borda, Dispersion, Fit, Lehmer, Refine
from fedrank.schemes.base import MAX_SAMPLES, only_true

START, REFINE, DISPERSION = "start", "refine", "dispersion"
"""The stages that a round can be of."""

DEFAULT_WINDOW = 8  # places apart up to which `Kemeny` asks for margins
DEFAULT_ROUNDS = 1  # rounds of refinement of `Kemeny`, at most


class Kemeny(Frozen):
    """A federated Kemeny consensus (M14): Borda first, then refinements around what it found.

    The rounds go on until nothing moves, the consensus is proved to be the best, or ``rounds`` are
    spent. No pair of items is asked for twice.

    Parameters
    ----------
    n : int
        Number of items.
    clients : int
        Most clients that take part.
    start : Borda, optional
        The scheme of the first round; by default ``Borda(n, clients)`` with the same
        ``max_samples`` and ``partial``.
    window : int
        How many places apart items may be for their margin to be asked for.
    rounds : int
        Most rounds of refinement.
    counts, majority, max_samples, partial
        As in `fedrank.schemes.Refine`.

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
        window: int = DEFAULT_WINDOW,
        rounds: int = DEFAULT_ROUNDS,
        counts: bool = False,
        majority: bool = False,
        max_samples: int | None = None,
        partial: bool = False,
    ) -> None:
        self.n = whole("n", n)
        self.clients = whole("clients", clients)
        self.partial = as_bool("partial", partial)
        if start is None:
            start = Borda(self.n, self.clients, max_samples=max_samples, partial=self.partial)
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
        self.window = whole("window", window)
        self.rounds = whole("rounds", rounds)
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
        self._freeze()

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
    >>> scheme_of(Borda(2, 3), True, "dispersion", [[1, 0]]).kind
    'dispersion'
    """
    number = len(orders)
    if stage == START and number == 0:
        return method.start if isinstance(method, Kemeny) else method
    if stage == REFINE and isinstance(method, Kemeny) and 1 <= number <= method.rounds:
        return method.refine(orders)
    if stage == DISPERSION and fit_phi and number > 0:
        first = method.start if isinstance(method, Kemeny) else method
        bound = first.max_samples or MAX_SAMPLES
        return Dispersion(ranks_of(orders[-1]), method.clients, max_samples=bound)
    raise InputError(f"this study has no round {number} of stage {stage!r}", value=stage)


def next_stage(method: Method, number: int) -> str:
    """Tell the stage that round ``number`` has unless the server says that the refinement ended."""
    if number == 0:
        return START
    return REFINE if isinstance(method, Kemeny) and number <= method.rounds else DISPERSION


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


class Course:
    """The server's way through a method: what to announce next, and what the sums gave so far.

    All sums must be over the same clients: others would contradict each other, and the difference
    of two sums would show one client's message.

    Parameters
    ----------
    method : Method
        The study's method.
    fit_phi : bool
        Whether to end with a round of dispersion.
    labels : tuple, optional
        Labels of the items, which the consensus will have.

    Attributes
    ----------
    consensus : Consensus or None
        The best so far.
    fit : schemes.Fit or None
        The dispersion, once its round was taken.
    orders : list of list of int
        The orders announced so far.

    Examples
    --------
    >>> from fedrank import Mallows
    >>> votes = Mallows(0.8, n=30).sample(20, rng=0)
    >>> course = Course(Kemeny(n=30, clients=1, window=3, rounds=9))
    >>> while (scheme := course.scheme) is not None:
    ...     course.take(scheme.encode(votes, client=0), survivors=1)
    >>> course.consensus.method, len(course.orders) > 1
    ('federated kemeny', True)
    """

    def __init__(
        self, method: Method, fit_phi: bool = False, labels: tuple[Hashable, ...] | None = None
    ) -> None:
        self.method = method
        self.fit_phi = fit_phi
        self.labels = labels
        self.consensus: Consensus | None = None
        self.fit: Fit | None = None
        self.orders: list[list[int]] = []
        self.stage: str | None = START
        self._refined: list[ArrayLike] = []  # sums of the rounds of refinement, in turn
        self._survivors: int | None = None
        self._drawn = False  # whether the start had ties, which were broken at random

    @property
    def scheme(self) -> AnyScheme | None:
        """What to ask for next; None once the method has ended."""
        if self.stage is None:
            return None
        return scheme_of(self.method, self.fit_phi, self.stage, self.orders)

    def take(self, total: ArrayLike, survivors: int, rng: RNG = None) -> None:
        """Go on by the sum of a round.

        Parameters
        ----------
        total : array_like of int
            The sum of the messages of `scheme`.
        survivors : int
            How many messages were summed: in every round as many as in the first.
        rng : None, int or numpy.random.Generator
            Breaks ties, and is for the search where all pairs are known.

        Raises
        ------
        ValueError
            If the method has ended, no clients can have sent this sum, or it is over others.
        """
        scheme = self.scheme
        if scheme is None:
            raise ValueError("the method has ended: there is no round to take a sum of")
        if self._survivors not in (None, survivors):
            raise InputError(
                f"must be {self._survivors}, as in the first round, not {survivors}",
                parameter="survivors",
                value=survivors,
                remedy="sums of different clients cannot be combined",
            )
        if isinstance(scheme, Dispersion):
            self.fit = scheme.decode(total, survivors)
            self.stage = None
        elif self.stage == REFINE:
            self._refine(scheme, total, survivors, rng)
        else:
            found = scheme.decode(total, survivors, rng=rng)
            self.consensus = replace(found, item_labels=self.labels)
            self._drawn = bool(found.tied_items)
            self._announce(isinstance(self.method, Kemeny))
        self._survivors = survivors

    def _refine(self, scheme: AnyScheme, total: ArrayLike, survivors: int, rng: RNG) -> None:
        """Refine the consensus, and see whether there is anything left to ask."""
        assert isinstance(scheme, Refine)
        found = scheme.decode(total, survivors, rng=rng, earlier=self._refined)
        if found.decided_by == "order" and self.consensus is not None:
            found = replace(found, decided_by=decided_before(found, self.consensus))
            # With all pairs known, the best rankings differ in their ties only.
            told = not found.tied_items or found.decided_by == "random"
            settled = scheme.window >= scheme.n - 1 and told
            if self._drawn and not settled and found.searched is None:
                found = replace(found, searched=Searched("start", 0, scheme.n))
        self.consensus = replace(found, item_labels=self.labels, method="federated kemeny")
        self._refined.append(total)
        moved = not np.array_equal(found.ranks, scheme.ranks)
        self._announce(moved and not found.exact)

    def _announce(self, refine: bool) -> None:
        """Choose the next round, and announce the consensus so far for it."""
        assert self.consensus is not None
        order = self.consensus.order.tolist()
        if refine and isinstance(self.method, Kemeny) and len(self.orders) < self.method.rounds:
            orders = [*self.orders, order]
            if self.method.refine(orders).segments:  # otherwise every near pair is known
                self.stage, self.orders = REFINE, orders
                return
        self.stage = DISPERSION if self.fit_phi else None
        if self.fit_phi:
            self.orders = [*self.orders, order]


def decided_before(found: Consensus, before: Consensus) -> str:
    """Say what decided ties that were left in the order of the round before.

    That order may itself have been decided by lot: if all items of each tie were tied with each
    other in the round before too, it was. If only some were, the others may leave no choice.

    Examples
    --------
    >>> from fedrank import aggregate
    >>> tied, clear = aggregate([[0, 1], [1, 0]]), aggregate([[0, 1]])
    >>> decided_before(tied, tied), decided_before(tied, clear)
    ('random', 'order')
    """
    groups = [set(group) for group in before.tied_items or ()]
    ties = found.tied_items or ()
    drawn = ties and all(any(group.issuperset(tie) for group in groups) for tie in ties)
    return before.decided_by if drawn else "order"
