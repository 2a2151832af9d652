"""What one party has seen of a run: the rounds that were announced, and who survived them.

The server keeps one to know what comes next. Every client keeps one of its own, and derives from it
what a round may ask for: it takes nothing on the server's word but the announced order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fedrank._core import SecaggBegin
from fedrank._json import canonical, read_json
from fedrank.exceptions import InputError, ProtocolError
from fedrank.protocol.methods import DISPERSION, START
from fedrank.protocol.secagg import Client
from fedrank.protocol.study import Round, Study


@dataclass(frozen=True)
class Begin:
    """What is announced of a round: its stage, and the order that it goes around.

    Examples
    --------
    >>> Begin.from_fields({"stage": "refine", "order": [1, 0]}).order
    (1, 0)
    """

    stage: str = START
    order: tuple[int, ...] = ()

    @classmethod
    def from_fields(cls, fields: Any) -> "Begin":
        """Check the fields of JSON."""
        if not isinstance(fields, dict) or set(fields) != {"stage", "order"}:
            raise InputError(
                "an announcement must have the fields order and stage, and no others", value=fields
            )
        stage, order = fields["stage"], fields["order"]
        if not isinstance(stage, str) or not isinstance(order, list):
            raise InputError(
                "the stage of an announcement must be text, and its order a list", value=fields
            )
        if not all(type(item) is int for item in order):
            raise InputError("an announced order must be a list of item numbers", value=order)
        return cls(stage, tuple(order))


def opening(request: bytes, me: int, run: int, round: int) -> SecaggBegin:
    """Read the request that opens a round, as client ``me``.

    Raises
    ------
    ProtocolError
        If it is not one, or of another client, run or round than the transport says.
    """
    begin = SecaggBegin.open(request, me)
    if (begin.run, begin.round) != (run, round):
        raise ProtocolError(
            f"the request opens round {begin.round} of run {begin.run}, not round {round} of run "
            f"{run}",
            "foreign",
        )
    return begin


class Record:
    """The rounds of one run, as one party saw them.

    Attributes
    ----------
    begins : list of Begin
        The rounds announced so far.
    opened : int
        How many of them were opened, as far as this party knows.
    survivors : tuple of int or None
        The clients in the sums of all opened rounds; None before the first was opened.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study, record = Study(Borda(n=2, clients=3, max_samples=9), fit_phi=True), Record()
    >>> record.begin(study, 0, Begin()).stage
    'start'
    >>> record.open(0, [0, 1, 2])
    >>> record.begin(study, 1, Begin("dispersion", (1, 0))).stage
    'dispersion'
    >>> Record.from_json(record.to_json()).survivors
    (0, 1, 2)
    """

    def __init__(self) -> None:
        self.begins: list[Begin] = []
        self.opened = 0
        self.survivors: tuple[int, ...] | None = None

    def begin(self, study: Study, number: int, begin: Begin) -> Round:
        """Begin a round, or return the one begun before by the same announcement.

        Raises
        ------
        ProtocolError
            If it is not the next round, the round before was not opened, another order was
            announced for it before, or the study has no such round.
        """
        if number < len(self.begins):
            if self.begins[number] != begin:
                raise ProtocolError(
                    f"round {number} was announced before, with another order", "conflict"
                )
            return self.round(study, number)
        if number > len(self.begins) or self.opened < number:
            raise ProtocolError(f"round {number} came before round {self.opened} ended", "order")
        if self.begins and self.begins[-1].stage == DISPERSION:
            raise ProtocolError(
                f"round {number} follows the round of dispersion, which must be the last", "order"
            )
        if number == 0 and begin != Begin():
            raise ProtocolError("the first round must not announce an order", "foreign")
        self.begins.append(begin)
        try:
            return self.round(study, number)
        except ProtocolError:
            self.begins.pop()
            raise

    def take(self, study: Study, begin: SecaggBegin) -> Round:
        """Begin the round that a server's message opens, as a client does.

        Raises
        ------
        ProtocolError
            If the message is of another study, or the round is not the one that follows from what
            this client saw itself.
        """
        if begin.study != bytes.fromhex(study.digest):
            raise ProtocolError("the round belongs to another study", "foreign")
        begun = len(self.begins)
        round = self.begin(study, begin.round, Begin(begin.stage, tuple(begin.order)))
        if begin.round_digest().hex() != round.digest:
            del self.begins[begun:]
            raise ProtocolError(
                f"round {begin.round} follows other rounds or survivors than this client saw",
                "foreign",
            )
        return round

    def missed(self, begin: SecaggBegin) -> bool:
        """Tell whether this client missed the end of the round before, which others confirmed."""
        return begin.round == self.opened + 1 and bool(begin.confirmations)

    def catch_up(self, begin: SecaggBegin, before: Client) -> None:
        """Note that the round before was opened, as the other survivors' signatures show.

        Parameters
        ----------
        begin : SecaggBegin
            What opens the next round; it carries the signatures.
        before : Client
            This client in the round before.

        Raises
        ------
        ProtocolError
            If fewer than the threshold confirmed these survivors, or this client is not one.
        """
        before.check_confirmed(begin.survivors, begin.confirmations)
        self.open(begin.round - 1, begin.survivors)

    def round(self, study: Study, number: int) -> Round:
        """Derive a round that was begun.

        Raises
        ------
        ProtocolError
            If it was not begun, or the study has no such round.
        """
        if number >= len(self.begins):
            raise ProtocolError(f"round {number} has not begun", "order")
        begin = self.begins[number]
        orders = [each.order for each in self.begins[1 : number + 1]]
        survivors = self.survivors or () if number else ()
        try:
            return study.round(number, orders, survivors, begin.stage)
        except ValueError as error:
            raise ProtocolError(f"round {number} is refused: {error}", "foreign") from None

    def check_survivors(self, number: int, survivors: Sequence[int]) -> None:
        """Refuse to open a sum over other clients than in the rounds before.

        The difference of two such sums could show one client's message.

        Raises
        ------
        ProtocolError
            With the code "changed".
        """
        known = self.survivors is not None and (number > 0 or self.opened > number)
        if known and tuple(survivors) != self.survivors:
            raise ProtocolError(
                "the clients that survived differ from those of the rounds before", "changed"
            )

    def open(self, number: int, survivors: Sequence[int]) -> None:
        """Note that a round is opened over these clients.

        Raises
        ------
        ProtocolError
            If the rounds before were opened over others.
        """
        self.check_survivors(number, survivors)
        self.survivors = tuple(survivors)
        self.opened = max(self.opened, number + 1)

    def to_json(self) -> str:
        """Write the record as JSON."""
        begins = [{"stage": each.stage, "order": each.order} for each in self.begins]
        return canonical({"begins": begins, "opened": self.opened, "survivors": self.survivors})

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """Read what `to_json` wrote."""
        fields = read_json(text, "record")
        record = cls()
        record.begins = [Begin.from_fields(each) for each in fields["begins"]]
        opened, survivors = fields["opened"], fields["survivors"]
        if type(opened) is not int or not 0 <= opened <= len(record.begins):
            raise InputError(
                f"opened must be a number of rounds from 0 to {len(record.begins)}, not {opened!r}",
                value=opened,
            )
        if survivors is not None and not all(type(each) is int for each in survivors):
            raise InputError(
                f"survivors must be client numbers, not {survivors!r}", value=survivors
            )
        record.opened = opened
        record.survivors = None if survivors is None else tuple(survivors)
        return record
