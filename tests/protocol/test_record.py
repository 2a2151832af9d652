"""What a party makes of what it is told: nothing that does not follow from what it saw before."""

import pytest

from fedrank import Borda, Kemeny, Study
from fedrank.exceptions import InputError, ProtocolError
from fedrank.protocol.record import Begin, Record, opening
from fedrank.protocol.secagg import Client
from helpers import sessions
from helpers.runs import begin_of
from helpers.sessions import signed

STUDY = Study(Kemeny(3, 4, window=1, rounds=2, max_samples=9), fit_phi=True)
ORDER, OTHER = (2, 0, 1), (0, 2, 1)


def opened(rounds=1, survivors=(0, 1, 2)):
    """A record after some rounds."""
    record = Record()
    for number in range(rounds):
        begin = Begin("refine", [ORDER, OTHER][number - 1]) if number else Begin()
        record.begin(STUDY, number, begin)
        record.open(number, survivors)
    return record


def refused(code, call, *arguments):
    with pytest.raises(ProtocolError) as error:
        call(*arguments)
    assert error.value.code == code


def test_rounds_follow_one_another():
    record = Record()
    refused("order", record.round, STUDY, 0)
    refused("order", record.begin, STUDY, 1, Begin("refine", ORDER))
    assert record.begin(STUDY, 0, Begin()) == STUDY.round(0)
    refused("order", record.begin, STUDY, 1, Begin("refine", ORDER))  # it is not opened
    record.open(0, [0, 1, 2])
    second = record.begin(STUDY, 1, Begin("refine", ORDER))
    assert second == STUDY.round(1, [ORDER], [0, 1, 2])
    refused("order", record.begin, STUDY, 3, Begin("refine", OTHER))


def test_the_same_announcement_may_come_again_and_another_may_not():
    record = opened()
    first = record.begin(STUDY, 1, Begin("refine", ORDER))
    assert record.begin(STUDY, 1, Begin("refine", ORDER)) == first
    refused("conflict", record.begin, STUDY, 1, Begin("refine", OTHER))
    refused("conflict", record.begin, STUDY, 1, Begin("dispersion", ORDER))
    refused("conflict", record.begin, STUDY, 0, Begin("refine", ORDER))
    assert record.begin(STUDY, 0, Begin()) == STUDY.round(0)


@pytest.mark.parametrize(
    "begin",
    [
        Begin(),
        Begin("start", ORDER),
        Begin("refine", (0, 1)),
        Begin("refine", (0, 1, 1)),
        Begin("refine", (0, 1, 3)),
        Begin("margins", ORDER),
    ],
)
def test_rounds_that_the_study_does_not_have_are_refused_and_forgotten(begin):
    record = opened()
    refused("foreign", record.begin, STUDY, 1, begin)
    assert len(record.begins) == 1
    record.begin(STUDY, 1, Begin("refine", ORDER))


def test_nothing_follows_the_dispersion_nor_the_last_refinement():
    record = opened()
    record.begin(STUDY, 1, Begin("dispersion", ORDER))
    record.open(1, [0, 1, 2])
    refused("order", record.begin, STUDY, 2, Begin("refine", OTHER))
    refused("order", record.begin, STUDY, 2, Begin("dispersion", OTHER))
    spent = opened(rounds=3)
    refused("foreign", spent.begin, STUDY, 3, Begin("refine", ORDER))
    spent.begin(STUDY, 3, Begin("dispersion", ORDER))
    plain = Study(Borda(3, 4))
    lone = Record()
    lone.begin(plain, 0, Begin())
    lone.open(0, [0, 1, 2])
    refused("foreign", lone.begin, plain, 1, Begin("dispersion", ORDER))


def test_later_rounds_open_over_the_same_survivors_only():
    record = opened()
    record.begin(STUDY, 1, Begin("refine", ORDER))
    for others in ([0, 1], [0, 1, 3], [0, 1, 2, 3], []):
        refused("changed", record.open, 1, others)
        refused("changed", record.open, 0, others)
    record.open(1, [0, 1, 2])
    record.open(0, [0, 1, 2])  # again
    assert record.opened == 2


def test_a_record_survives_being_written():
    record = opened(rounds=2)
    again = Record.from_json(record.to_json())
    assert (again.begins, again.opened, again.survivors) == (
        record.begins,
        record.opened,
        record.survivors,
    )
    assert Record.from_json(Record().to_json()).survivors is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        [],
        None,
        {"stage": "refine"},
        {"stage": "refine", "order": [0], "more": 1},
        {"stage": 1, "order": [0]},
        {"stage": "refine", "order": [True, False]},
        {"stage": "refine", "order": ["0", "1"]},
        {"stage": "refine", "order": [0.0, 1]},
        {"stage": "refine", "order": 3},
    ],
)
def test_saved_announcements_that_cannot_be_read_are_refused(fields):
    with pytest.raises(InputError, match="announce"):
        Begin.from_fields(fields)


def test_the_first_round_announces_nothing():
    refused("foreign", Record().begin, STUDY, 0, Begin("start", (7, 7)))


# What the server's message says


def message(study=STUDY, /, record=None, **changes):
    """What opens the first round, or the one after those of a record."""
    number = len(record.begins) if record else 0
    fields = {"stage": "refine", "order": list(ORDER)} if number else {}
    if number:
        before = record.round(study, number - 1)
        fields |= {"round": number, "previous": bytes.fromhex(before.digest)}
        fields |= {"survivors": list(record.survivors)}
    return begin_of(study, **fields | changes)


def test_a_message_opens_the_round_that_follows_from_what_a_client_saw():
    assert Record().take(STUDY, message()) == STUDY.round(0)
    record = opened()
    begin = message(record=record)
    assert record.take(STUDY, begin) == STUDY.round(1, [ORDER], [0, 1, 2])
    assert record.take(STUDY, begin) == STUDY.round(1, [ORDER], [0, 1, 2])  # again


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"study": bytes(32)}, "foreign"),
        ({"round": 2}, "order"),
        ({"stage": "margins"}, "foreign"),
        ({"stage": "start"}, "foreign"),
        ({"order": [0, 1]}, "foreign"),
        ({"order": [0, 1, 1]}, "foreign"),
        ({"order": list(range(50))}, "foreign"),  # longer than the items make it
        ({"order": [0, 1, 2**32 - 1]}, "foreign"),
        ({"previous": bytes(32)}, "foreign"),
        ({"survivors": [0, 1, 3]}, "foreign"),
        ({"survivors": [0, 1]}, "foreign"),
        ({"survivors": []}, "foreign"),
    ],
)
def test_a_message_that_does_not_follow_is_refused(change, code):
    record = opened()
    refused(code, record.take, STUDY, message(record=record, **change))
    assert record.opened == 1
    assert record.survivors == (0, 1, 2)
    assert len(record.begins) == 1  # it changed nothing, and another order may still come
    assert record.take(STUDY, message(record=record, order=list(OTHER))).number == 1


def test_a_message_of_another_study_is_called_so():
    with pytest.raises(ProtocolError, match="belongs to another study"):
        Record().take(STUDY, message(study=bytes(32)))


def test_a_message_is_read_as_what_the_transport_says():
    begin = message(run=5)
    assert opening(begin.to_bytes(2), 2, 5, 0).session() == begin.session()
    refused("foreign", opening, begin.to_bytes(2), 2, 6, 0)
    refused("foreign", opening, begin.to_bytes(2), 2, 5, 1)
    refused("foreign", opening, begin.to_bytes(2), 1, 5, 0)
    refused("malformed", opening, begin.to_bytes(2)[:-1], 2, 5, 0)


# A survivor that missed the confirm step

SIGNED = signed(Kemeny(3, 4, window=1, rounds=2, max_samples=9), fit_phi=True)


def missed():
    """Run a round whose confirm step client 3 misses; return its record, and all parties."""
    session = Session(SIGNED.round(0)).until("confirm")
    session.run("confirm", but=[3])
    record = Record()
    record.begin(SIGNED, 0, Begin())
    # What it signed never arrived, or it was never asked.
    session.clients[3] = Client.resume(SIGNED.round(0), session.before, session.identities[3])
    return record, session


class Session(sessions.Session):
    """A session that keeps what client 3 knew before the confirm step."""

    def until(self, name):
        super().until(name)
        self.before = self.clients[3].state()
        return self


def opening_the_next(session, survivors=(0, 1, 2, 3), confirmations=None):
    given = session.server.confirmations if confirmations is None else confirmations
    return begin_of(
        SIGNED,
        round=1,
        stage="refine",
        order=list(ORDER),
        previous=bytes.fromhex(SIGNED.round(0).digest),
        survivors=list(survivors),
        confirmations=given,
    )


def test_a_survivor_that_missed_the_confirm_step_catches_up_by_the_signatures():
    record, session = missed()
    client = session.clients[3]
    begin = opening_the_next(session)
    refused("order", record.take, SIGNED, begin)
    assert record.missed(begin)
    before = client.state()
    record.catch_up(begin, client)
    assert client.state() == before  # nothing of the round before is given any more
    assert (record.opened, record.survivors) == (1, (0, 1, 2, 3))
    assert record.take(SIGNED, begin).number == 1
    assert not record.missed(begin)


def test_a_survivor_that_confirmed_and_was_not_heard_catches_up_too():
    session = sessions.Session(SIGNED.round(0)).until("confirm")
    session.run("confirm", but=[3])
    record = Record()
    record.begin(SIGNED, 0, Begin())
    begin = opening_the_next(session)
    record.catch_up(begin, session.clients[3])
    assert record.take(SIGNED, begin).number == 1


def test_without_the_threshold_of_valid_signatures_nobody_catches_up():
    record, session = missed()
    client, given = session.clients[3], session.server.confirmations
    assert [who for who, _ in given] == [0, 1, 2]
    foreign = missed()[1].server.confirmations  # of another session
    altered = [*given[:2], (2, given[2][1][:-1] + bytes([given[2][1][-1] ^ 1]))]
    for code, confirmations in (
        ("few", given[:2]),
        ("signature", foreign),
        ("signature", [*given[:2], foreign[2]]),
        ("signature", altered),
        ("signature", [*given[:2], (3, given[2][1])]),  # under another name
    ):
        begin = opening_the_next(session, confirmations=confirmations)
        refused(code, record.catch_up, begin, client)
    for code, survivors in (
        ("list", (0, 1, 2)),  # without itself
        ("signature", (0, 1, 3)),
        ("list", (0, 1, 2, 3, 4)),
        ("few", (0, 3)),
    ):
        begin = opening_the_next(session, survivors)
        with pytest.raises(ProtocolError) as error:
            record.catch_up(begin, client)
        assert error.value.code in (code, "list"), survivors
    assert (record.opened, record.survivors) == (0, None)


def test_without_signatures_nobody_has_missed_anything():
    record, session = missed()
    assert not record.missed(opening_the_next(session, confirmations=[]))
    assert not opened().missed(message(record=opened()))
    refused("order", record.take, SIGNED, opening_the_next(session, confirmations=[]))


def test_a_client_that_was_not_masked_catches_up_with_nothing():
    _, session = missed()
    record = Record()
    record.begin(SIGNED, 0, Begin())
    early = sessions.Session(SIGNED.round(0)).until("mask")
    refused("order", record.catch_up, opening_the_next(session), early.clients[3])
