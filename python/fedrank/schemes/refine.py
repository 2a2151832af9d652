"""Refinement of an announced consensus (M14)."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank import _core
from fedrank._random import RNG, seed_bytes
from fedrank._validation import as_bool, as_list, check_ties, whole
from fedrank.consensus import Consensus
from fedrank.consensus.ties import Searched
from fedrank.exceptions import InputError
from fedrank.schemes.base import (
    ConsensusScheme,
    as_message,
    as_ranking,
    needed_bound,
    only_true,
)

AUTO = "auto"
"""The window that widens where items move."""


def as_window(window: int | str) -> int | str:
    """Check a number of places, or "auto".

    Examples
    --------
    >>> as_window("auto"), as_window(8)
    ('auto', 8)
    """
    if isinstance(window, str) and window != AUTO:
        raise InputError(
            f'must be a whole number of at least 1, or "auto", not {window!r}',
            parameter="window",
            value=window,
        )
    return window if isinstance(window, str) else whole("window", window)


class Refine(ConsensusScheme):
    """Refinement of an announced consensus towards Kemeny's (M14).

    A client sends, for every two items that are near in the announced ranking, its margin: how
    many of its rankings put the first before the second, less the reverse. The server moves items
    past each other as long as that brings the ranking nearer to the clients' rankings; items whose
    margin it does not know keep their order.

    Parameters
    ----------
    ranks : array_like of int, shape (n,)
        The announced ranking, or a `Consensus`.
    clients : int
        Most clients that take part.
    window : int or "auto"
        How many places apart items may be for their margin to be sent. ``"auto"`` is 1 in the
        first round. In later ones it is ``1 + 2 d`` for an item that is ``d`` places from where
        the ranking announced before had it; of two items the larger window counts. So it follows
        from the announced rankings alone.
    counts : bool
        Whether the first round also sends the number of rankings and, unless it asks for all
        pairs, the sum of their distances to the announced ranking. The objective, and a proof of
        optimality where not all pairs are known, need these; without them the number stays hidden
        but for its parity and a lower bound.
    majority : bool
        Whether to send one bit per pair instead: which item most of the client's rankings
        put first, ties broken at random. The message is shorter and hides the number of
        rankings, but improves the consensus less.
    max_samples : int
        Most rankings that a client may hold. It bounds the margins, so a lower one makes messages
        shorter. Not needed with ``majority``.
    earlier : sequence of array_like of int, each of shape (n,)
        Rankings that were announced before, in turn: pairs asked then are not asked again.
    partial : bool
        Whether to take `PartialRankings`: a pair that one ties, or leaves out, adds 0 to the
        margin. Margins then tell nothing of the parity of the number of rankings.

    Examples
    --------
    >>> scheme = Refine([0, 1, 2, 3], clients=3, window=2, max_samples=50)
    >>> scheme.segments
    (Segment(name='margin', entries=5, bits=9),)
    >>> rows = [[1, 0, 2, 3], [0, 1, 2, 3]]
    >>> messages = [scheme.encode(rows, client=0), scheme.encode(rows[:1], client=1)]
    >>> scheme.decode(sum(messages), survivors=2).order
    array([1, 0, 2, 3], dtype=int32)
    """

    kind = "refine"

    def __init__(
        self,
        ranks: ArrayLike,
        clients: int,
        window: int | str = AUTO,
        *,
        counts: bool = False,
        majority: bool = False,
        max_samples: int | None = None,
        earlier: Iterable[ArrayLike] = (),
        partial: bool = False,
    ) -> None:
        announced = [as_ranking(each) for each in [*as_list(earlier, "earlier"), ranks]]
        n = announced[-1].shape[1]
        for each in announced:
            if each.shape[1] != n:
                raise InputError(
                    f"must rank the {n} items of ranks, not {each.shape[1]}",
                    parameter="earlier",
                    value=each.shape[1],
                )
        self.window = as_window(window)
        self.counts, self.majority = as_bool("counts", counts), as_bool("majority", majority)
        self.partial = as_bool("partial", partial)
        self.breaks_ties = self.majority
        if self.counts and self.majority:
            raise InputError(
                "is for margins, not for majorities",
                parameter="counts",
                value=True,
                remedy="leave out counts or majority",
            )
        if not self.majority:
            max_samples = needed_bound(max_samples, "margins")
        super().__init__(announced[0].shape[1], clients, max_samples)
        self._announced = np.vstack(announced)
        self._announced.flags.writeable = False
        vote = "counted" if self.counts else "majority" if self.majority else "margins"
        self._core_scheme = _core.Scheme.refine(
            self._announced,
            self.clients,
            self.max_samples,
            None if isinstance(self.window, str) else self.window,
            vote,
            self.partial,
        )
        self._freeze()

    @property
    def ranks(self) -> NDArray[np.int32]:
        """The announced ranking."""
        ranks: NDArray[np.int32] = self._announced[-1]
        return ranks

    @property
    def earlier(self) -> NDArray[np.int32]:
        """Rankings announced before, one per row."""
        earlier: NDArray[np.int32] = self._announced[:-1]
        return earlier

    def decode(
        self,
        total: ArrayLike,
        survivors: int,
        rng: RNG = None,
        ties: str = "random",
        earlier: Sequence[ArrayLike] = (),
    ) -> Consensus:
        """Refine the announced ranking by the sum of the survivors' messages.

        Where all pairs are known, Kemeny's consensus is searched for among all rankings, and
        ``exact`` says whether the result is proved to be one. Otherwise it is proved with
        ``counts`` only, where chains of known pairs settle those that are not known.

        Parameters
        ----------
        total : array_like of int
            The entry-wise sum of the messages, reduced modulo the widths or not.
        survivors : int
            How many messages were summed.
        rng : None, int or numpy.random.Generator
            For the search where all pairs are known, and its ties.
        ties : {"random", "index"}
            Whether that search breaks ties at random, or by the announced order, as
            refinement always does.
        earlier : sequence of array_like of int
            The sums of the earlier rounds, of the same survivors, in turn.

        Raises
        ------
        ValueError
            If a margin is beyond what so many clients can have, or beyond the number of
            rankings, or margins of complete rankings are not all even or all odd, or so many
            clients cannot hold that number, or no rankings with these margins have that sum of
            distances. Margins that contradict each other in other ways are not found out.

        Examples
        --------
        >>> scheme = Refine([0, 1, 2], clients=2, window=2, counts=True, max_samples=9)
        >>> votes = [[0, 2, 1], [0, 2, 1], [0, 1, 2]]
        >>> found = scheme.decode(scheme.encode(votes, client=0), survivors=1)
        >>> found.order, found.exact, round(found.objective, 3)
        (array([0, 2, 1], dtype=int32), True, 0.111)
        """
        check_ties(ties)
        totals = [as_message(each) for each in [*as_list(earlier, "earlier"), total]]
        found = self._core_scheme.decode(
            totals, whole("survivors", survivors), ties, seed_bytes(rng)
        )
        # The number of rankings ends the first round's message; distances are of twins, if partial.
        scale = int(totals[0][-1]) * (1 + self.partial) * self.n if self.counts else 1
        return Consensus(
            ranks=found.ranks,
            item_labels=None,
            method=f"federated {self.kind}",
            ties=found.ties,
            exact=found.exact,
            objective=None if found.distance is None else found.distance / scale,
            lower_bound=None if found.lower_bound is None else found.lower_bound / scale,
            decided_by="order" if found.kept or ties == "index" else ties,
            searched=None if found.searched is None else Searched("search", *found.searched),
            tied_runs=found.tied,
        )

    def open_runs(
        self, totals: Sequence[ArrayLike], survivors: int, ranks: ArrayLike, most: int
    ) -> list[tuple[int, int]]:
        """Tell which places of a refined ranking depend on the ranking that was announced first.

        More than half of the rankings have every item outside of a run before, or behind, all
        items of that run. So every refinement that goes on until nothing moves has the same items
        in each run, whatever it began with. All other places are settled.

        Parameters
        ----------
        totals : sequence of array_like of int
            The sums of all rounds, in turn.
        survivors : int
            How many messages were summed.
        ranks : array_like of int, shape (n,)
            The refined ranking.
        most : int
            How many rankings the survivors hold at most. Chains of known pairs settle others only
            if there are few enough.

        Returns
        -------
        runs : list of (int, int)
            The first position of each run, and the position after its last.

        Examples
        --------
        >>> scheme = Refine([0, 1, 2], clients=1, window=1, max_samples=9)
        >>> agreed, cycle = [[0, 1, 2]] * 3, [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
        >>> for votes in agreed, cycle:
        ...     print(scheme.open_runs([scheme.encode(votes, client=0)], 1, [0, 1, 2], most=3))
        []
        [(0, 3)]
        """
        sums = [as_message(each) for each in as_list(totals, "totals")]
        return self._core_scheme.open_runs(
            sums, whole("survivors", survivors), as_ranking(ranks), whole("most", most)
        )

    def _parameters(self) -> dict[str, Any]:
        return {
            "ranks": self.ranks.tolist(),
            "clients": self.clients,
            "window": self.window,
            "counts": self.counts,
            "majority": self.majority,
            "max_samples": self.max_samples,
            "earlier": self.earlier.tolist(),
        } | only_true(partial=self.partial)

    def __repr__(self) -> str:
        return (
            f"Refine(<{self.n} items>, clients={self.clients}, window={self.window!r}, "
            f"counts={self.counts}, majority={self.majority}, max_samples={self.max_samples}, "
            f"earlier=<{len(self.earlier)}>{', partial=True' if self.partial else ''})"
        )
