"""How a refinement ends: where nothing moves, at a proof, or where its rounds are spent."""

import numpy as np
import pytest

from fedrank import Borda, Consensus, Kemeny, Mallows, aggregate, federate, kemeny_score
from fedrank.protocol.methods import MAX_ROUNDS
from fedrank.schemes import Refine
from helpers import realdata, reference


def two_camps(seed=0):
    """Six clients with 20 rankings about one center, four with 500 about another."""
    rng = np.random.default_rng(seed)
    few, many = (Mallows(0.7, center=rng.permutation(50)) for _ in range(2))
    return [few.sample(20, rng) for _ in range(6)] + [many.sample(500, rng) for _ in range(4)]


@pytest.mark.parametrize("start", ["weighted", "sums", "means"])
def test_clients_of_unequal_size_end_at_the_optimum(start):
    clients = two_camps()
    everyone = np.vstack(clients)
    least = aggregate(everyone, "kemeny", rng=0)
    assert least.exact is True
    assert round(least.objective, 2) == 2.59
    found = federate(clients, "kemeny", secure=False, send=start, rng=0)
    assert found.converged is True
    assert kemeny_score(found, everyone) == pytest.approx(least.objective, rel=1e-12)
    # Where the rounds end after one, the result says so.
    early = federate(clients, "kemeny", secure=False, send="means", rounds=1, window=8, rng=0)
    assert early.converged is False
    assert kemeny_score(early, everyone) > 1.5 * least.objective
    assert "not converged: more rounds may change it" in repr(early)


def test_by_default_the_rounds_go_on_until_nothing_moves():
    drawn = Mallows(0.97, n=60).sample(60, rng=0)
    found = federate(drawn.split(6, rng=0), "kemeny", secure=False, rng=0)
    assert (found.study.method.rounds, found.study.method.window) == (None, "auto")
    assert found.converged is True
    last = found.rounds[-1].scheme
    announced = [*last.earlier.tolist(), last.ranks.tolist()]
    assert len(announced) == len(found.rounds) - 1 > 2
    assert last.ranks.tolist() == found.ranks.tolist()
    # Every round asks for what the announced orders make it ask for, and for no pair twice.
    for count, each in enumerate(found.rounds[1:], start=1):
        assert each.scheme.ranks.tolist() == announced[count - 1]
        entries = sum(segment.entries for segment in each.scheme.segments)
        assert entries == len(reference.refine_pairs(announced[:count], "auto"))
    pairs = reference.known_pairs(announced, "auto")
    assert len(set(pairs)) == len(pairs)
    assert "converged" in repr(found)


@pytest.mark.parametrize("rounds", range(1, 7))
def test_a_result_has_converged_if_another_round_does_not_change_it(rounds):
    clients = Mallows(0.97, n=40).sample(60, rng=1).split(6, rng=1)
    found, more = (
        federate(clients, "kemeny", secure=False, rounds=limit, rng=2)
        for limit in (rounds, rounds + 1)
    )
    if found.converged:
        assert more.ranks.tolist() == found.ranks.tolist()
        assert more.converged
    else:
        assert len(found.rounds) == rounds + 1
        assert len(more.rounds) == rounds + 2


def test_rounds_without_a_limit_have_one_that_is_far_away():
    method = Kemeny(5, 3, max_samples=9)
    assert (method.most_rounds, Kemeny(5, 3, rounds=2, max_samples=9).most_rounds) == (
        MAX_ROUNDS,
        2,
    )
    orders = [list(range(5))] * MAX_ROUNDS
    assert isinstance(method.refine(orders), Refine)


def test_methods_of_one_round_neither_converge_nor_do_not():
    votes = [[[0, 1, 2]] * 3] * 3
    assert federate(votes, "borda").converged is None
    assert federate(votes, Refine([0, 1, 2], 3, max_samples=9)).converged is None
    assert aggregate(votes[0], "kemeny").converged is None


def test_one_item_needs_no_refinement():
    found = federate([[[0]]] * 3, "kemeny")
    assert (len(found.rounds), found.converged) == (1, True)


@pytest.mark.parametrize("rounds", [1, None])
def test_json_tells_whether_it_converged(rounds):
    clients = Mallows(0.97, n=40).sample(60, rng=1).split(6, rng=1)
    found = federate(clients, "kemeny", secure=False, rounds=rounds, rng=2)
    assert found.converged is (rounds is None)
    assert Consensus.from_json(found.to_json()).converged is found.converged


# What it costs


def bits_of(result):
    return sum(each.scheme.message_bits for each in result.rounds)


def test_mallows_centers_are_as_near_as_the_best_at_twice_the_bits_of_borda():
    wrong, best, ratios = 0, 0, []
    borda = Borda(50, 10).message_bits
    for seed in range(60):
        drawn = Mallows(0.6, n=50).sample(50, rng=seed)
        clients = [drawn[5 * c : 5 * c + 5] for c in range(10)]
        found = federate(clients, "kemeny", secure=False, rng=seed)
        assert len(found.rounds) <= 4
        wrong += reference.kendall(found.ranks.tolist(), range(50))
        central = aggregate(drawn, "kemeny", rng=seed)
        best += reference.kendall(central.ranks.tolist(), range(50))
        ratios.append(bits_of(found) / borda)
    assert wrong <= 1.08 * best
    assert 1.5 <= np.mean(ratios) <= 2.3


def test_luad_takes_half_of_the_bits_of_65_535_samples():
    parts = realdata.luad().split(10, rng=0)
    options = {"window": 8, "rounds": 1, "secure": False, "rng": 0}
    least = federate(parts, "kemeny", **options)
    most = federate(parts, "kemeny", max_samples=65_535, **options)
    assert least.study.method.max_samples == 63
    assert least.rounds[1].scheme.message_bits <= 0.55 * most.rounds[1].scheme.message_bits
    assert bits_of(least) < 0.6 * bits_of(most)
