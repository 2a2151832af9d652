"""What would leave, before it does."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedrank.agent.agent import FRAME, kept_message, make_message, open_message
from fedrank.agent.policy import Config
from fedrank.agent.store import Store
from fedrank.protocol.study import Study
from fedrank.schemes import Segment


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
        The message, which leaves under masks only; this very one, if it is kept.
    rankings : int
        Of how many rankings it is.
    kept_since : float or None
        When it was encoded, in seconds since 1970: whatever became of the file since then does
        not matter. None if it is not kept, since the policy would not allow the study.
    segments : list of (Segment, numpy.ndarray of uint64)
        The same, segment by segment.
    bytes_up : dict of str to int
        Bytes that leave at each step, if all clients take part.
    """

    study: Study
    objection: str | None
    message: NDArray[np.uint64]
    rankings: int
    kept_since: float | None
    segments: list[tuple[Segment, NDArray[np.uint64]]]
    bytes_up: dict[str, int]


def preview(config: Config, study: Study) -> Preview:
    r"""Show exactly what would leave, without sending it.

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
        If the rankings are too few, or do not suit the study.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fedrank import Borda
    >>> from fedrank.agent import Policy
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "votes.csv").write_text("ann,bob\n" + "1,0\n" * 12)
    >>> study = Study(Borda(n=2, clients=3), ["ann", "bob"], ["north", "east", "west"])
    >>> policy = Policy((study.digest,))
    >>> config = Config("east", folder / "votes.csv", folder / "s", folder / "a.sock", policy)
    >>> shown = preview(config, study)
    >>> shown.message, shown.bytes_up["mask"]
    (array([1, 0], dtype=uint64), 41)
    """
    store = Store(config.folder)
    objection = config.objection(study)
    if objection is None or store.message(study.digest) is not None:
        kept = kept_message(config, store, study)
    else:
        kept = make_message(config, study)
    rankings, message = open_message(study, kept)
    ends = np.cumsum([segment.entries for segment in study.scheme.segments])
    parts = np.split(message, ends[:-1])
    return Preview(
        study=study,
        objection=objection,
        message=message,
        rankings=rankings,
        kept_since=store.kept_since(study.digest),
        segments=list(zip(study.scheme.segments, parts, strict=True)),
        bytes_up=bytes_up(study),
    )


def bytes_up(study: Study) -> dict[str, int]:
    """Sizes of a client's messages (docs/protocol.md), if all take part.

    Examples
    --------
    >>> from fedrank import Borda
    >>> sum(bytes_up(Study(Borda(n=978, clients=10))).values())
    3338
    """
    clients = len(study.roster)
    return {
        "advertise": FRAME + 64,
        "share": FRAME + 32 + 32 * clients + 80 * (clients - 1),
        "mask": FRAME + -(-study.scheme.message_bits // 8),
        "unmask": FRAME + 33 * clients,
    }
