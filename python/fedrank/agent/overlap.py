"""What a new study reveals together with those that were opened or allowed before."""

from dataclasses import dataclass

from fedrank._validation import few
from fedrank.agent.ledger import OPENING
from fedrank.agent.policy import Config
from fedrank.agent.store import Store
from fedrank.protocol.study import Study


@dataclass(frozen=True)
class Overlap:
    """An opened or allowed study that has parties in common with a new one.

    Attributes
    ----------
    study : str
        Its digest.
    opened : float or None
        When this agent first helped to open it, in seconds since 1970; None if it was allowed, and
        not opened yet.
    parties : tuple of str
        The names of those whose messages are in its sum, or may be.
    left, joined : tuple of str
        Those who are not in the new study, and those who are in the new one only.
    """

    study: str
    opened: float | None
    parties: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()

    @property
    def revealed(self) -> str:
        """What the difference of the two sums would reveal.

        Examples
        --------
        >>> Overlap("abc", 0.0, ("a", "b", "c"), left=("c",)).revealed
        'the difference of the two sums shows what c alone sent'
        """
        apart = [*self.left, *self.joined]
        if not self.parties:
            return "its text is not here, or cannot be read any more: look yourself who is in it"
        if not apart:
            return (
                "the same parties: the difference of the two sums shows what changed in their "
                "rankings since then; if only yours changed, it is your change"
            )
        if len(apart) == 1:
            return f"the difference of the two sums shows what {apart[0]} alone sent"
        return f"the difference of the two sums is of {few(apart)} only"


def overlaps(config: Config, store: Store, study: Study) -> list[Overlap]:
    """List the studies that have parties in common with a new one, beside this client.

    These are the opened ones, and those that were allowed and may still be opened. They are
    compared by key if both studies name identities, and otherwise by name.

    Parameters
    ----------
    config : Config
        The agent's.
    store : Store
        Its store, which keeps the texts of the studies that were allowed or answered.
    study : Study
        The new one.

    Returns
    -------
    found : list of Overlap
        Oldest first; those that were not opened yet come last.
    """
    ledger = store.ledger()
    known: dict[str, tuple[float | None, tuple[int, ...] | None]] = {}
    for entry in ledger.entries:
        if entry.step in OPENING:
            known.setdefault(entry.study, (entry.time, entry.survivors))
    kept = [each.name for each in store.studies.iterdir() if store.study(each.name) is not None]
    for digest in sorted({*kept, *config.policy.studies}):
        if not ledger.closed(digest):
            known.setdefault(digest, (None, None))
    known.pop(study.digest, None)
    found, me = [], config.me(study)
    for digest, (when, survivors) in known.items():
        old = kept_study(store, digest)
        if old is None:
            found.append(Overlap(digest, when))
            continue
        by_key = old.signed and study.signed
        before, after = parties(old, by_key), parties(study, by_key)
        if survivors is not None:
            before = {key: name for n, (key, name) in enumerate(before.items()) if n in survivors}
        mine = {config.public, config.name} if me is None else {[*after][me]}
        if {*before} & {*after} - mine:
            found.append(
                Overlap(
                    digest,
                    when,
                    parties=tuple(before.values()),
                    left=tuple(name for key, name in before.items() if key not in after),
                    joined=tuple(name for key, name in after.items() if key not in before),
                )
            )
    return found


def parties(study: Study, by_key: bool) -> dict[str, str]:
    """Map what a study's clients are known by to their names, in the roster's order."""
    identities = study.identities if by_key else None
    return dict(zip(identities or study.roster, study.roster, strict=True))


def kept_study(store: Store, digest: str) -> Study | None:
    """Read a study that was kept, unless this version cannot."""
    text = store.study(digest)
    try:
        return None if text is None else Study.from_json(text)
    except ValueError:
        return None
