"""What a party makes of what it is told: nothing that does not follow from what it saw before."""

import json

import pytest

from fedrank import Borda, Kemeny, Study
from fedrank.exceptions import ProtocolError
from fedrank.protocol.record import Begin, Record

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
    "request_bytes",
    [
        b"{}",
        b"[]",
        b"noise",
        b"\xff",
        json.dumps({"stage": "refine"}).encode(),
        json.dumps({"stage": 1, "order": [0]}).encode(),
        json.dumps({"stage": "refine", "order": [True, False]}).encode(),
        json.dumps({"stage": "refine", "order": ["0", "1"]}).encode(),
        json.dumps({"stage": "refine", "order": [0.0, 1]}).encode(),
        json.dumps({"stage": "refine", "order": 3}).encode(),
        b"[" * 100_000,
    ],
)
def test_announcements_that_cannot_be_read_are_refused(request_bytes):
    refused("malformed", Begin.from_bytes, request_bytes, 100_000)


def test_an_announcement_is_no_longer_than_its_items_make_it():
    refused("malformed", Begin.from_bytes, Begin("refine", tuple(range(50))).to_bytes(), 3)
    longest = Begin("dispersion", tuple(range(2**24 - 3, 2**24)))
    assert Begin.from_bytes(longest.to_bytes(), 3) == longest


def test_the_first_round_announces_nothing():
    refused("malformed", Begin.from_bytes, b'{"order":[7,7],"stage":"start"}', 3)
    refused("foreign", Record().begin, STUDY, 0, Begin("start", (7, 7)))


def test_announcements_go_both_ways():
    for begin in (Begin(), Begin("refine", ORDER), Begin("dispersion", OTHER)):
        assert Begin.from_bytes(begin.to_bytes(), 3) == begin
    assert Begin().to_bytes() == b""
