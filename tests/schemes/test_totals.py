"""Totals that clients can send are decoded, and no others."""

from itertools import combinations_with_replacement, permutations, product

import pytest

from fedrank import Borda, Lehmer


def reachable(scheme, clients, holdings):
    """Sums of messages that some clients can send."""
    messages = [scheme.encode(rankings, client=0, rng=0).tolist() for rankings in holdings]
    return {
        tuple(map(sum, zip(*chosen, strict=True)))
        for chosen in combinations_with_replacement(messages, clients)
    }


@pytest.mark.parametrize(
    ("n", "low_bits"), [(3, 0), (3, 1), (4, 1), pytest.param(4, 2, marks=pytest.mark.slow)]
)
def test_lehmer_totals_are_accepted_if_and_only_if_they_can_be(n, low_bits):
    scheme = Lehmer(n, 2, low_bits=low_bits)
    can_be = reachable(scheme, 2, [[r] for r in permutations(range(n))])
    most = [2 * max(column) for column in zip(*can_be, strict=True)]
    for total in product(*(range(top + 1) for top in most)):
        if total in can_be:
            scheme.decode(total, 2)
        else:
            with pytest.raises(ValueError, match="impossible"):
                scheme.decode(total, 2)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_exact_borda_totals_are_accepted_if_and_only_if_they_can_be(n):
    scheme = Borda(n, 2, send="sums", max_samples=1)
    can_be = reachable(scheme, 2, [[r] for r in permutations(range(n))])
    for total in product(range(2 * n), repeat=n):
        if total in can_be:
            scheme.decode(total, 2)
        else:
            with pytest.raises(ValueError, match="impossible"):
                scheme.decode(total, 2)
