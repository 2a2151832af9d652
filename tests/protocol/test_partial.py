"""Federations of partial rankings."""

import numpy as np
import pytest

from fedrank import (
    Borda,
    Lehmer,
    PartialRankings,
    Rankings,
    aggregate,
    federate,
    kemeny_score,
)
from fedrank.schemes import Refine


def some_ballots(seed, count, n):
    """Ballots of which few are complete."""
    rng = np.random.default_rng(seed)
    positions = rng.integers(-1, n, (count, n))
    positions[:, 0] = np.maximum(positions[:, 0], 0)
    return PartialRankings(positions)


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("borda", {}),
        ("borda", {"send": "sums", "max_samples": 20}),
        ("kemeny", {"window": 2, "rounds": 3}),
        ("kemeny", {"window": 2, "rounds": 2, "counts": True, "max_samples": 20}),
        ("kemeny", {"window": 3, "majority": True}),
    ],
)
def test_secure_equals_plain(scheme, options):
    clients = some_ballots(1, 60, 8).split(5, rng=1)
    secure, plain = (
        federate(clients, scheme, secure=secure, dropouts=[2], rng=3, **options)
        for secure in (True, False)
    )
    assert secure.ranks.tolist() == plain.ranks.tolist()
    assert secure.exact == plain.exact
    assert secure.survivors == plain.survivors == [0, 1, 3, 4]
    assert all(each.scheme.partial for each in secure.rounds)


def test_refinement_is_never_worse_than_its_start():
    for seed in range(10):
        votes = some_ballots(seed, 40, 9)
        near, nearer = (
            federate(votes.split(4, rng=0), scheme, secure=False, rng=0)
            for scheme in ("borda", "kemeny")
        )
        assert kemeny_score(nearer, votes) <= kemeny_score(near, votes)


def test_all_pairs_known_give_central_kemeny():
    votes = some_ballots(5, 45, 8)
    found = federate(votes.split(3, rng=0), "kemeny", rng=0, window=7, counts=True)
    central = aggregate(votes, "kemeny")
    assert found.exact
    assert central.exact
    assert found.objective == pytest.approx(central.objective, abs=1e-12)
    assert found.objective == pytest.approx(kemeny_score(found, votes), abs=1e-12)


def test_complete_rankings_take_part_beside_partial_ones():
    complete = Rankings([[0, 1, 2], [0, 2, 1]], items="abc")
    partial = PartialRankings([[0, 0, -1]], items="abc")
    result = federate([complete, partial, partial], "borda", send="sums", max_samples=2)
    assert result.scores.tolist() == [0.25, 1.0, 1.75]
    assert result.items == ("a", "b", "c")
    asked = federate([complete] * 3, "borda", partial=True, send="sums", max_samples=2)
    assert asked.study.method.partial
    assert asked.scores.tolist() == [0, 1.5, 1.5]


@pytest.mark.parametrize(
    ("scheme", "options"), [("borda", {"partial": True}), (Borda(3, 3, partial=True), {})]
)
def test_arrays_are_read_as_partial_where_that_is_told(scheme, options):
    ballots = [[[0, 0, -1]], [[0, 1, -1]], [[-1, 0, 1]]]
    found = federate(ballots, scheme, rng=0, **options)
    expected = federate([PartialRankings(each) for each in ballots], scheme, rng=0)
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.study == expected.study
    with pytest.raises(ValueError, match=r"client 0, row 0: .*-1 .* use PartialRankings"):
        federate(ballots)


def test_clients_count_by_their_ballots_without_quantizing():
    many, few = PartialRankings([[0, 1, -1]] * 30), PartialRankings([[1, 0, -1]])
    by_ballot = federate([many, few, few], "borda", send="sums", max_samples=30)
    assert by_ballot.order.tolist() == [0, 1, 2]
    by_client = federate([many, few, few], "borda")
    assert by_client.order.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("scheme", "options", "problem"),
    [
        (
            "lehmer",
            {},
            "client 0: the method lehmer needs .* complete them .* borda",
        ),
        (Lehmer(2, 3), {}, "the method lehmer needs complete rankings"),
        (Borda(2, 3), {}, "make the method with partial=True"),
        (Refine([0, 1], 3, 1, max_samples=99), {}, "make the method with partial=True"),
        ("borda", {"fit_phi": True}, "fitting phi needs complete rankings"),
        (
            "borda",
            {"partial": False},
            "client 0: .* ties or gaps; leave out partial=False",
        ),
        (
            "kemeny",
            {"partial": False},
            "client 0: .* ties or gaps; leave out partial=False",
        ),
        (
            "kemeny",
            {"max_samples": 1},
            "client 0: 2 rankings are more than the bound of 1 per client",
        ),
    ],
)
def test_what_cannot_take_partial_rankings_says_what_to_do(scheme, options, problem):
    with pytest.raises(ValueError, match=problem):
        federate([PartialRankings([[0, 0], [-1, 0]])] * 3, scheme, **options)
