"""The JSON of a federated result: with very many clients, and with identities."""

import json
import time

import pytest

from fedrank import Consensus, Mallows, federate
from fedrank.protocol.documents import as_clients, read_dropped
from fedrank.protocol.secagg import SIGNED_STEPS, STEPS


def test_clients_are_read_in_linear_time():
    """A set per client took minutes for 65,535 of them."""
    numbers = {f"client {number}": number for number in range(65_535)}
    begun = time.perf_counter()
    assert as_clients(list(numbers), numbers) == list(numbers)
    lost = [{"client": each, "round": 0, "step": "mask", "why": None} for each in numbers]
    assert len(read_dropped(lost, numbers, set(), 1, STEPS)["dropped"]) == 65_535
    assert time.perf_counter() - begun < 5


def test_a_result_of_a_signed_study_comes_back():
    parts = Mallows(0.6, n=6).sample(60, rng=0).split(10, rng=0)
    found = federate(
        parts, rng=0, identities=True, dropouts={0: "share", 1: "confirm", 2: "unmask"}
    )
    assert found.survivors == [*range(1, 10)]
    again = Consensus.from_json(found.to_json())
    assert again == found
    assert again.study.identities == found.study.identities
    assert again.dropped == {0: "share", 1: "confirm", 2: "unmask"}


@pytest.mark.parametrize(
    ("steps", "step", "survivors", "message"),
    [
        (STEPS, "mask", {0}, "lost at mask of round 0, but is in the sum"),
        (STEPS, "unmask", set(), "lost at unmask of round 0, but is not in the sum"),
        (STEPS, "confirm", {0}, "step"),
        (SIGNED_STEPS, "mask", {0}, "lost at mask of round 0, but is in the sum"),
        (SIGNED_STEPS, "confirm", set(), "lost at confirm of round 0, but is not in the sum"),
    ],
)
def test_a_client_is_in_the_sum_if_it_sent_its_masked_message(steps, step, survivors, message):
    lost = [{"client": 0, "round": 0, "step": step, "why": None}]
    with pytest.raises(ValueError, match=message):
        read_dropped(lost, {0: 0}, survivors, 1, steps)


def test_a_result_with_identities_is_not_read_as_one_without():
    """Only a study without identities may have been given the names that are the default."""
    text = federate([[[0, 1, 2]]] * 3, rng=0, identities=True).to_json()
    fields = json.loads(text)
    assert fields["extra"]["named"] is False
    fields["extra"]["named"] = True
    with pytest.raises(ValueError, match="named must be"):
        Consensus.from_json(json.dumps(fields))
