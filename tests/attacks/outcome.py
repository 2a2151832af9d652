"""What comes of an attack: what the attacker got, or where and why it was refused."""

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from fedrank.exceptions import InputError, ProtocolError, RefusalError

NOT_PLAYED = "–"


class Refused(Exception):  # noqa: N818  it is what today's rules are for
    """The attacker was refused."""

    def __init__(self, step, code):
        super().__init__(f"refused at {step}: {code}")


@contextmanager
def at(step):
    """Note at which step a victim refuses."""
    try:
        yield
    except RefusalError as error:
        raise Refused(step, error.code.value) from error
    except ProtocolError as error:
        raise Refused(step, error.code) from error
    except InputError as error:
        raise Refused(step, "text") from error


@dataclass(frozen=True)
class Attack:
    """One row of the table.

    Attributes
    ----------
    name, who : str
        What is attacked, and who attacks.
    play : callable
        Plays it under version 1's rules or not, and returns what the attacker got.
    goal : object
        What the attacker wants to get.
    won, lost : str
        What to call it if the attacker got that, and if it got something else.
    before, today : str
        What is expected under version 1's rules, and today.
    without : callable
        Removes today's checks, where they are in Python: then the attack must not be refused.
    rust : str
        The Rust test that fails if the check is removed, where it is in Rust.
    """

    name: str
    who: str
    play: Callable[[bool], object]
    goal: object
    won: str
    before: str
    today: str
    lost: str = "gets nothing"
    without: Callable[[], AbstractContextManager] | None = None
    rust: str = ""

    def outcome(self, version1):
        """Play it, and say what came of it."""
        if version1 and self.before == NOT_PLAYED:
            return NOT_PLAYED
        return self._outcome(version1, nullcontext)

    def outcome_without_check(self):
        """Play it today, with the check removed."""
        return self._outcome(False, self.without)

    def _outcome(self, version1, surroundings):
        try:
            with surroundings():
                got = self.play(version1)
        except Refused as refused:
            return str(refused)
        return self.won if got == self.goal else self.lost
