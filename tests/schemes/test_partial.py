"""Messages of partial rankings: mid-ranks and margins."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import (
    Borda,
    PartialRankings,
    Study,
    aggregate,
)
from fedrank.schemes import Refine
from fedrank.schemes import from_json as scheme_from_json
from helpers import reference
from helpers.strategies import federations, partial, profiles

# --- Borda's messages ---


@given(federations(6, rows=partial))
def test_exact_borda_sends_doubled_mid_ranks_and_is_central_borda_to_the_bit(parts):
    n, together = len(parts[0][0]), [ballot for part in parts for ballot in part]
    scheme = Borda(n, len(parts), send="sums", max_samples=4, partial=True)
    messages = [scheme.encode(part, client=c) for c, part in enumerate(parts)]
    for part, message in zip(parts, messages, strict=True):
        sums = [2 * sum(column) for column in zip(*map(reference.mid_ranks, part), strict=True)]
        assert message.tolist() == (sums if n > 1 else [])
    widths = [segment.bits for segment in scheme.segments for _ in range(segment.entries)]
    assert widths == reference.borda_widths(n, len(parts), 2 * 4)
    found = scheme.decode(sum(messages), len(parts), ties="index")
    central = aggregate(PartialRankings(together), ties="index")
    assert found.ranks.tolist() == central.ranks.tolist()
    assert found.scores.tolist() == central.scores.tolist()
    assert found.ties == central.ties


@given(profiles(6, rows=partial), st.sampled_from([0.0, 0.3, 0.6, 0.95]))
def test_quantized_borda_sends_the_places_nearest_to_mean_mid_ranks(ballots, phi):
    n = len(ballots[0])
    scheme = Borda(n, 3, send="centroids", phi=phi, partial=True)
    assert scheme.segments == Borda(n, 3, send="centroids", phi=phi).segments
    places = reference.borda_places([*map(reference.mid_ranks, ballots)], phi)
    message = scheme.encode(ballots, client=0).tolist()
    assert all(sent in near for sent, near in zip(message, places, strict=False))
    assert len(message) == (n if n > 1 else 0)


@pytest.mark.parametrize(
    "total",
    [
        [0, 1, 2],  # of half a ballot
        [0, 2, 4],  # of one ballot, by two clients
        [1, 5, 9],  # of two ballots and a half
        [0, 14, 28],  # of more than both may hold
        [0, 4, 7],
        [0, 3, 9],  # the best two take more than two places
    ],
)
def test_sums_that_no_partial_rankings_have_are_refused(total):
    scheme = Borda(3, clients=2, send="sums", max_samples=3, partial=True)
    assert scheme.decode([0, 4, 8], survivors=2).order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="the sums are not what 2 clients can send"):
        scheme.decode(total, survivors=2)


def test_max_samples_counts_ballots():
    scheme = Borda(3, clients=2, send="sums", max_samples=2, partial=True)
    assert scheme.encode([[0, 0, 0]] * 2, client=0).tolist() == [4, 4, 4]
    with pytest.raises(
        ValueError, match="the client has 3 rankings; the scheme's max_samples is 2"
    ):
        scheme.encode([[0, 0, 0]] * 3, client=0)
    with pytest.raises(ValueError, match="no rankings"):
        scheme.encode(PartialRankings(np.empty((0, 3), dtype=int)), client=0)


# --- Refine's messages ---


@given(federations(6, rows=partial), st.integers(1, 5), st.booleans(), st.randoms())
def test_margins_leave_out_ties_and_prove_what_is_best(parts, window, counts, random):
    n, together = len(parts[0][0]), [ballot for part in parts for ballot in part]
    announced = random.sample(range(n), n)
    scheme = Refine(announced, len(parts), window, counts=counts, max_samples=4, partial=True)
    bits = reference.refine_bits(len(parts), 4)
    messages = [scheme.encode(part, client=c) for c, part in enumerate(parts)]
    for part, message in zip(parts, messages, strict=True):
        last = reference.unranked_last(part)
        expected = reference.refine_message(last, [announced], window, bits, counts)
        if counts and window < n - 1:  # a ballot stands for two rankings, its ties both ways
            half = sum(reference.half_distance(announced, ballot) for ballot in part)
            expected[-2] = int(2 * half)
        assert message.tolist() == expected
    complete = Refine(announced, len(parts), window, counts=counts, max_samples=4)
    names = [segment.name for segment in complete.segments]
    assert [segment.name for segment in scheme.segments] == names
    for mine, other in zip(scheme.segments, complete.segments, strict=True):
        twice = len(parts) * 4 * n * (n - 1)
        bits = reference.bits_for(twice) if mine.name == "distance" else other.bits
        assert (mine.entries, mine.bits) == (other.entries, bits)
    found = scheme.decode(sum(messages), len(parts))
    distance = sum(reference.half_distance(found.ranks, b) for b in together)
    assert distance <= sum(reference.half_distance(announced, b) for b in together)
    if found.exact:
        assert distance == reference.least_half_distance(together)
    if window >= n - 1:
        assert found.exact
    assert (found.objective is None) == (not counts)
    if counts:
        expected = float(distance / (len(together) * n))
        assert found.objective == pytest.approx(expected, abs=1e-12)


def test_a_proof_by_chains_counts_ties_one_half():
    # 0 before 1 and 1 before 2 in all but half a ballot each of four: 0 before 2 in three at least.
    ballots = [[0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 1, 2]]
    scheme = Refine([0, 1, 2], 1, window=1, counts=True, max_samples=4, partial=True)
    found = scheme.decode(scheme.encode(ballots, client=0), survivors=1)
    assert found.exact
    # Four of five ballots tie each pair, and 5 - 2 - 2 is less than half of them.
    ballots = [[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    scheme = Refine([0, 1, 2], 1, window=1, counts=True, max_samples=5, partial=True)
    assert not scheme.decode(scheme.encode(ballots, client=0), survivors=1).exact


def test_margins_of_either_parity_are_for_partial_rankings_only():
    of = {"ranks": [0, 1, 2], "clients": 1, "window": 1, "max_samples": 9}
    assert Refine(**of, partial=True).decode([1, 2], survivors=1).order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="all even or all odd"):
        Refine(**of).decode([1, 2], survivors=1)
    with pytest.raises(ValueError, match="a margin is larger than the number of rankings"):
        Refine(**of, partial=True, counts=True).decode([1, 2, 0, 1], survivors=1)


def test_sums_of_distances_must_go_with_the_margins():
    # Three rankings disagree about the pair that is not asked at most three times.
    scheme = Refine([0, 1, 2], 1, window=1, counts=True, max_samples=3)
    assert scheme.decode([3, 3, 0, 3], survivors=1).objective == 0
    assert scheme.decode([1, 1, 2, 3], survivors=1).objective == 2 / 9
    with pytest.raises(ValueError, match="no rankings have both these margins and this sum"):
        scheme.decode([3, 3, 4, 3], survivors=1)
    with pytest.raises(ValueError, match="no rankings have both these margins and this sum"):
        scheme.decode([1, 3, 0, 3], survivors=1)


def test_majorities_take_partial_rankings():
    scheme = Refine([0, 1, 2], clients=1, window=2, majority=True, partial=True)
    assert scheme.encode([[2, 1, -1], [0, 0, 0], [-1, -1, 0]], client=0)[0] == 0


def test_margins_that_could_overflow_are_refused():
    Refine([0, 1], clients=2**14, window=1, max_samples=2**16 - 1, partial=True)
    with pytest.raises(ValueError, match=r"below 2\^31, 2\^30 if partial"):
        Refine([0, 1], clients=2**14, window=1, max_samples=2**16, partial=True)


# --- schemes are told ---


@pytest.mark.parametrize(
    "scheme",
    [
        Borda(4, 3, partial=True),
        Borda(4, 3, send="sums", max_samples=9, partial=True),
        Refine([1, 0, 2], 3, 1, counts=True, earlier=[[0, 1, 2]], max_samples=9, partial=True),
    ],
)
def test_the_flag_is_in_the_json_and_in_the_digest(scheme):
    assert json.loads(scheme.to_json())["partial"] is True
    again = scheme_from_json(scheme.to_json())
    assert again == scheme
    assert again.partial
    without = json.loads(scheme.to_json())
    del without["partial"]
    complete = scheme_from_json(json.dumps(without))
    assert not complete.partial
    assert "partial" not in complete.to_json()
    if not len(getattr(scheme, "earlier", ())):  # a later round is no method by itself
        assert Study(complete).digest != Study(scheme).digest
    assert "partial=True" in repr(scheme)


def test_the_flag_is_true_or_false():
    for make in (
        lambda: Borda(3, 2, partial=1),
        lambda: Refine([0, 1], 2, 1, partial="yes", max_samples=9),
    ):
        with pytest.raises(ValueError, match="partial must be True or False"):
            make()
