"""What would leave, before it does."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fedrank import _core
from fedrank.agent.agent import objection, too_many
from fedrank.agent.policy import Config
from fedrank.agent.snapshot import Snapshot, encode, file_hash, kept_snapshot, new_snapshot
from fedrank.agent.store import Store
from fedrank.protocol.envelope import OVERHEAD
from fedrank.protocol.methods import DISPERSION, REFINE, Kemeny
from fedrank.protocol.study import Round, Study
from fedrank.schemes import Dispersion, Refine, Segment
from fedrank.schemes.refine import AUTO

MAX_PAIRS = 1 << 30  # about which a message is never longer: the core's limit


@dataclass(frozen=True)
class Preview:
    """What an agent would give to a study.

    Attributes
    ----------
    study : Study
        The study.
    objection : str or None
        Why the policy would not allow it.
    message : numpy.ndarray of uint64
        The message of the first round, which leaves under masks only; this very one, if the
        rankings are kept.
    rankings : int
        Of how many rankings it is.
    source : str
        What was read from the file, in one line.
    ranked : list
        The labels of all items, best first, as this client's message alone ranks them: items that
        it cannot tell apart in the study's order.
    kept_since : float or None
        When the rankings were read, in seconds since 1970: later changes of the file do not matter.
        None if they are not kept, since the policy would not allow the study.
    changed : bool
        Whether the file of rankings is another one now, or gone: the study is answered from what
        was kept all the same.
    segments : list of (Segment, numpy.ndarray of uint64)
        The same, segment by segment.
    rounds : list of (str, int, dict of str to int)
        What the study may have, in turn: a stage, how many rounds of it at most, and the most bytes
        that leave at each step of one, if all clients take part. What later rounds ask for depends
        on what is announced. No pair of items is asked for twice, so all rounds of refinement
        together have at most one entry for every pair.
    """

    study: Study
    objection: str | None
    message: NDArray[np.uint64]
    rankings: int
    source: str
    ranked: list[str | int]
    kept_since: float | None
    changed: bool
    segments: list[tuple[Segment, NDArray[np.uint64]]]
    rounds: list[tuple[str, int, dict[str, int]]]


def preview(config: Config, study: Study) -> Preview:
    r"""Show exactly what would leave in the first round, without sending it.

    Parameters
    ----------
    config : Config
        The agent's.
    study : Study
        The study.

    Returns
    -------
    preview : Preview

    Raises
    ------
    RefusalError
        If the rankings are too few, or do not suit the study, or the client is not in its roster.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fedrank import Borda
    >>> from fedrank.agent import Policy
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "votes.csv").write_text("ann,bob\n" + "1,0\n" * 12)
    >>> study = Study(Borda(n=2, clients=3), ["ann", "bob"], ["north", "east", "west"])
    >>> policy = Policy((study.digest,), allow_unsigned=True)
    >>> config = Config("east", folder / "votes.csv", folder / "s", folder / "a.sock", policy)
    >>> shown = preview(config, study)
    >>> shown.message, shown.rounds[0][2]["mask"], shown.ranked
    (array([4, 0], dtype=uint64), 41, ['bob', 'ann'])
    """
    store, round = Store(config.folder, config.public), study.round(0)
    problem = objection(config, store, study)
    most = config.policy.runs_per_day
    if problem is None and store.ledger().runs_today(study.digest) >= most:
        problem = too_many(most)
    if problem is None or store.rankings(study.digest) is not None:
        snapshot, _ = kept_snapshot(config, store, study)
    else:
        snapshot = new_snapshot(config, study)
    message = encode(config, study, round, snapshot)
    ends = np.cumsum([segment.entries for segment in round.scheme.segments])
    parts = np.split(message, ends[:-1])
    return Preview(
        study=study,
        objection=problem,
        message=message,
        rankings=len(snapshot.rankings),
        source=snapshot.source,
        ranked=ranked_by(study, round, message),
        kept_since=store.kept_since(study.digest),
        changed=is_changed(config, snapshot),
        segments=list(zip(round.scheme.segments, parts, strict=True)),
        rounds=[(each.stage, most, bytes_up(each)) for each, most in possible_rounds(study)],
    )


def ranked(config: Config, study: Study) -> tuple[str, list[str | int]]:
    """Read the rankings, and rank the labels by their message; nothing is kept of either.

    Returns
    -------
    source : str
        What was read, in one line.
    ranked : list
        The labels, best first.

    Raises
    ------
    RefusalError
        If the rankings are too few, or do not suit the study, or the client is not in its roster.
    """
    round, snapshot = study.round(0), new_snapshot(config, study)
    message = encode(config, study, round, snapshot)
    return snapshot.source, ranked_by(study, round, message)


def ranked_by(study: Study, round: Round, message: NDArray[np.uint64]) -> list[str | int]:
    """Rank the labels by one client's message: what the sum would give, were it the only one.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study = Study(Borda(n=3, clients=2), ["x", "y", "z"])
    >>> ranked_by(study, study.round(0), np.array([8, 0, 4], dtype=np.uint64))
    ['y', 'z', 'x']
    """
    scheme = round.scheme
    assert not isinstance(scheme, Dispersion)  # never the first round
    order = scheme.decode(message, 1, ties="index").order.tolist()
    return order if study.items is None else [study.items[item] for item in order]


def is_changed(config: Config, snapshot: Snapshot) -> bool:
    """Tell whether the file of rankings is not the one that was read."""
    return snapshot.file is not None and file_hash(config) != snapshot.file


def possible_rounds(study: Study) -> list[tuple[Round, int]]:
    """List the rounds that a study may have, and how many such rounds there are at most.

    Messages of these rounds are as long at the most.

    Examples
    --------
    >>> study = Study(Kemeny(n=4, clients=3, max_samples=9))
    >>> for round, most in possible_rounds(study):
    ...     print(most, round.stage, round.scheme.segments[0].entries)
    1 start 4
    1 refine 3
    99 refine 6
    """
    method = study.method
    anything = list(range(method.n))
    rounds = [(study.round(0), 1)]
    if isinstance(method, Kemeny):
        first = study.round(1, [anything], stage=REFINE)
        if method.window == AUTO and method.most_rounds > 1:
            # An item that moved may be asked with all others.
            widest = replace(first, number=2, scheme=all_pairs(method))
            rounds += [(first, 1), (widest, method.most_rounds - 1)]
        else:
            # An order that was not announced before asks for the most.
            rounds.append((first, method.most_rounds))
    if study.fit_phi:
        rounds.append((study.round(1, [anything], stage=DISPERSION), 1))
    return rounds


def all_pairs(method: Kemeny) -> Refine:
    """Make a refinement with the longest message that a later round of a method can have."""
    return Refine(
        np.arange(method.n),
        method.clients,
        max(1, min(method.n - 1, MAX_PAIRS // method.n)),
        majority=method.majority,
        max_samples=method.max_samples,
        partial=method.partial,
    )


def bytes_up(round: Round) -> dict[str, int]:
    """Sizes of what a client sends in one round, in envelopes if the study has identities.

    Examples
    --------
    >>> from fedrank import Borda
    >>> sum(bytes_up(Study(Borda(n=978, clients=10)).round(0)).values())
    3582
    """
    sizes = _core.message_sizes(round.clients, round.scheme.message_bits, round.signed)
    envelope = OVERHEAD if round.signed else 0
    return {step: getattr(sizes, step) + envelope for step in round.steps}
