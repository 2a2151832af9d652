"""The JSON of a federated result, with very many clients."""

import time

from fedrank.protocol.documents import as_clients, read_dropped


def test_clients_are_read_in_linear_time():
    """A set per client took minutes for 65,535 of them."""
    numbers = {f"client {number}": number for number in range(65_535)}
    begun = time.perf_counter()
    assert as_clients(list(numbers), numbers) == list(numbers)
    lost = [{"client": each, "round": 0, "step": "mask", "why": None} for each in numbers]
    assert len(read_dropped(lost, numbers, set(), 1)["dropped"]) == 65_535
    assert time.perf_counter() - begun < 5
