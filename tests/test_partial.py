"""Partial rankings: by mid-ranks, half counts and margins, against their definitions."""

import json
import pickle
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fedrank import (
    Borda,
    Lehmer,
    PartialRankings,
    Rankings,
    Study,
    aggregate,
    data,
    federate,
    footrule_distance,
    kemeny_score,
    kendall_distance,
    lehmer_encode,
    pairwise_counts,
)
from fedrank.schemes import Dispersion, Refine
from fedrank.schemes import from_json as scheme_from_json

SAMPLES = Path(__file__).parent / "samples"


def rows(n):
    """Positions of n items, of which not all are unranked."""
    return st.lists(st.integers(-1, n), min_size=n, max_size=n).filter(lambda row: max(row) >= 0)


def profiles(most_items, most_rows=6):
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(rows(n), min_size=1, max_size=most_rows)
    )


def federations(most_items, most_clients=4):
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(
            st.lists(rows(n), min_size=1, max_size=4), min_size=1, max_size=most_clients
        )
    )


def weighted(most_items):
    return profiles(most_items).flatmap(
        lambda ballots: st.tuples(
            st.just(ballots),
            st.lists(st.integers(0, 3), min_size=len(ballots), max_size=len(ballots)).filter(sum),
        )
    )


def some_ballots(seed, count, n):
    """Ballots of which few are complete."""
    rng = np.random.default_rng(seed)
    positions = rng.integers(-1, n, (count, n))
    positions[:, 0] = np.maximum(positions[:, 0], 0)
    return PartialRankings(positions)


def mean(values):
    return [sum(column) / len(values) for column in zip(*values, strict=True)]


def least_half_distance(ballots):
    everyone = permutations(range(len(ballots[0])))
    return min(sum(reference.half_distance(r, b) for b in ballots) for r in everyone)


# --- what a partial ranking is ---


@given(rows(6))
def test_levels_are_dense_and_in_the_order_of_the_positions(row):
    used = sorted({position for position in row if position >= 0})
    expected = [-1 if position == -1 else used.index(position) for position in row]
    assert PartialRankings(row).ranks.tolist() == [expected]


@given(st.permutations(range(7)))
def test_a_complete_ranking_is_its_own_levels(ranking):
    assert PartialRankings(ranking).ranks.tolist() == [ranking]


@given(rows(6))
def test_scores_give_the_levels_of_their_order(row):
    scores = [np.nan if position == -1 else 0.5 - position for position in row]
    assert PartialRankings.from_scores(scores) == PartialRankings(row)


@given(rows(6), st.randoms())
def test_orders_give_the_levels_of_their_groups(row, random):
    used = sorted({position for position in row if position >= 0})
    order = [["abcdef"[i] for i in range(6) if row[i] == position] for position in used]
    for tied in order:
        random.shuffle(tied)
    order = [tied[0] if len(tied) == 1 else tied for tied in order]
    made = PartialRankings.from_orders([order], items="abcdef")
    assert made == PartialRankings(row, items="abcdef")


def test_orders_without_labels_given_use_all_that_are_named():
    made = PartialRankings.from_orders([["cy"], [{"bob", "ann"}, "cy"]])
    assert made.items == ("ann", "bob", "cy")
    assert made.ranks.tolist() == [[-1, -1, 0], [0, 0, 1]]
    assert PartialRankings.from_orders([[1], [0, 2]]).item_labels is None


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: PartialRankings([[0, 1], [-2, 0]]), "row 1: -2 of item 0 is no position"),
        (lambda: PartialRankings([[0, 1], [-1, -1]]), "row 1 ranks nothing: leave it out"),
        (lambda: PartialRankings([[0, float("nan")]]), "row 0: nan of item 1 is not a whole"),
        (lambda: PartialRankings([[0, 0.5]]), "0.5 of item 1 is not a whole number"),
        (lambda: PartialRankings([[0, 1], [0]]), "row 1 has 1 entry but row 0 has 2"),
        (lambda: PartialRankings([[]]), "at least one item"),
        (lambda: PartialRankings([[0, 1]], items="a"), "1 labels were given for 2 items"),
        (lambda: PartialRankings.from_scores([[np.nan, np.nan]]), "row 0 ranks nothing"),
        (lambda: PartialRankings.from_scores([["a"]]), "scores must be real numbers"),
        (lambda: PartialRankings.from_orders([]), "no orders were given"),
        (lambda: PartialRankings.from_orders(5), "orders must be a list of items, not 5"),
        (lambda: PartialRankings.from_orders([["a", [], "b"]]), "row 0 has an empty tie"),
        (lambda: PartialRankings.from_orders([["a"], [set()]]), "row 1 has an empty tie"),
        (lambda: PartialRankings.from_orders([["a", float("nan")]]), "label nan cannot be one"),
        (lambda: PartialRankings.from_orders([1]), "order 0 must be a list of items"),
        (lambda: PartialRankings.from_orders([["a", ["b", "a"]]]), "row 0 names 'a' more than"),
        (lambda: PartialRankings.from_orders([["a"], ["z"]], items="ab"), "row 1 names 'z'"),
        (lambda: PartialRankings.from_orders([[["a", ["b"]]]]), "cannot be a label"),
        (lambda: PartialRankings.from_orders([["a"], []]), "row 1 ranks nothing"),
        (lambda: PartialRankings.from_orders([[]]), "at least one item"),
        (lambda: PartialRankings([[0, 1]]).split(2), "1 rankings cannot be split among 2"),
    ],
)
def test_bad_input_is_named(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


def test_rows_labels_and_copies_are_kept():
    votes = PartialRankings([[0, 0, -1], [2, 1, 0]], items="abc")
    assert votes[1:].ranks.tolist() == [[2, 1, 0]]
    assert votes[1:].items == ("a", "b", "c")
    assert votes.align("cab").ranks.tolist() == [[-1, 0, 0], [0, 2, 1]]
    assert pickle.loads(pickle.dumps(votes)) == votes
    assert sorted(len(part) for part in votes.split(2, rng=0)) == [1, 1]
    assert all(isinstance(part, PartialRankings) for part in votes.split(2, rng=0))
    assert votes[1:] != Rankings([[2, 1, 0]], items="abc")
    assert not votes.ranks.flags.writeable
    assert len(PartialRankings(np.empty((0, 3), dtype=int))) == 0


@given(rows(6), st.integers(0, 99))
def test_completion_keeps_what_is_ordered(row, seed):
    (levels,) = reference.unranked_last([row])
    (ranking,) = PartialRankings(row).complete(rng=seed).ranks.tolist()
    assert sorted(ranking) == list(range(6))
    for a in range(6):
        for b in range(6):
            assert ranking[a] < ranking[b] or levels[a] >= levels[b]


def test_completion_is_uniform():
    drawn = PartialRankings([[0, -1, -1, -1]] * 6000).complete(rng=0).ranks
    kinds, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(kinds) == 6
    assert (np.abs(counts - 1000) < 150).all()


# --- in one place ---


@given(weighted(6))
def test_borda_scores_are_mean_mid_ranks(case):
    ballots, weights = case
    found = aggregate(PartialRankings(ballots), weights=weights)
    means = mean([reference.mid_ranks(b) for b in reference.repeat(ballots, weights)])
    assert found.scores.tolist() == pytest.approx([float(m) for m in means], abs=1e-12)
    for a, b in permutations(range(len(means)), 2):
        assert found.ranks[a] < found.ranks[b] or means[a] >= means[b]


@given(weighted(6), st.randoms())
def test_kemeny_score_counts_ties_and_gaps_one_half(case, random):
    ballots, weights = case
    ranking = random.sample(range(len(ballots[0])), len(ballots[0]))
    total = sum(
        reference.half_distance(ranking, b) for b in reference.repeat(ballots, weights)
    ) / Fraction(sum(weights) * len(ranking))
    score = kemeny_score(ranking, PartialRankings(ballots), weights)
    assert score == pytest.approx(float(total), abs=1e-12)


@given(weighted(6))
def test_pairwise_counts_leave_out_ties(case):
    ballots, weights = case
    counts = pairwise_counts(PartialRankings(ballots), weights)
    repeated = reference.repeat(reference.unranked_last(ballots), weights)
    assert counts.tolist() == reference.pairwise(repeated)


@given(profiles(5))
def test_kemeny_is_the_best_of_all_rankings(ballots):
    votes = PartialRankings(ballots)
    found = aggregate(votes, "kemeny")
    assert found.exact
    scale = len(ballots) * votes.n
    assert found.objective == pytest.approx(float(least_half_distance(ballots) / scale), abs=1e-12)
    assert found.objective == found.lower_bound == kemeny_score(found, votes)


@given(profiles(5))
def test_pivot_knows_its_objective(ballots):
    votes = PartialRankings(ballots)
    found = aggregate(votes, "pivot", rng=0)
    assert found.objective == kemeny_score(found, votes)


@pytest.mark.parametrize("method", ["borda", "kemeny", "pivot"])
def test_complete_rankings_give_the_same_as_partial_ones(method):
    ranks = np.array([np.random.default_rng(seed).permutation(6) for seed in range(9)])
    complete, partial = (
        aggregate(kind(ranks), method, rng=1) for kind in (Rankings, PartialRankings)
    )
    assert complete.ranks.tolist() == partial.ranks.tolist()
    assert complete.objective == partial.objective


@pytest.mark.parametrize("method", ["lehmer", "footrule", "pick"])
def test_methods_of_complete_rankings_say_what_to_do(method):
    with pytest.raises(ValueError, match=f"'{method}' takes complete rankings only: complete"):
        aggregate(PartialRankings([[0, 0]]), method)


@pytest.mark.parametrize(
    "use",
    [
        lambda votes: kendall_distance(votes, [0, 1]),
        lambda votes: footrule_distance([0, 1], votes),
        lambda votes: kemeny_score(votes, [[0, 1]]),
        lehmer_encode,
        Rankings,
        Lehmer(n=2, clients=1).encode,
        Borda(n=2, clients=1).encode,
        Refine([0, 1], clients=1, window=1).encode,
        Dispersion([0, 1], clients=1).encode,
    ],
)
def test_what_needs_complete_rankings_says_what_to_do(use):
    with pytest.raises(ValueError, match=r"complete them, PartialRankings.complete\(rng=…\), or"):
        use(PartialRankings([[0, 0]]))


# --- Borda's messages ---


@given(federations(6))
def test_exact_borda_sends_doubled_mid_ranks_and_is_central_borda_to_the_bit(parts):
    n, together = len(parts[0][0]), [ballot for part in parts for ballot in part]
    scheme = Borda(n, len(parts), quantize=False, max_samples=4, partial=True)
    messages = [scheme.encode(part) for part in parts]
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


@given(profiles(6), st.sampled_from([0.0, 0.3, 0.6, 0.95]))
def test_quantized_borda_sends_the_places_nearest_to_mean_mid_ranks(ballots, phi):
    n = len(ballots[0])
    scheme = Borda(n, 3, phi, partial=True)
    assert scheme.segments == Borda(n, 3, phi).segments
    places = reference.borda_places([*map(reference.mid_ranks, ballots)], phi)
    message = scheme.encode(ballots).tolist()
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
    scheme = Borda(3, clients=2, quantize=False, max_samples=3, partial=True)
    assert scheme.decode([0, 4, 8], survivors=2).order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="the sums are not what 2 clients can send"):
        scheme.decode(total, survivors=2)


def test_max_samples_counts_ballots():
    scheme = Borda(3, clients=2, quantize=False, max_samples=2, partial=True)
    assert scheme.encode([[0, 0, 0]] * 2).tolist() == [4, 4, 4]
    with pytest.raises(
        ValueError, match="the client has 3 rankings; the scheme's max_samples is 2"
    ):
        scheme.encode([[0, 0, 0]] * 3)
    with pytest.raises(ValueError, match="no rankings"):
        scheme.encode(PartialRankings(np.empty((0, 3), dtype=int)))


# --- Refine's messages ---


@given(federations(6), st.integers(1, 5), st.booleans(), st.randoms())
def test_margins_leave_out_ties_and_prove_what_is_best(parts, window, counts, random):
    n, together = len(parts[0][0]), [ballot for part in parts for ballot in part]
    announced = random.sample(range(n), n)
    scheme = Refine(announced, len(parts), window, counts, max_samples=4, partial=True)
    bits = reference.refine_bits(len(parts), 4)
    messages = [scheme.encode(part) for part in parts]
    for part, message in zip(parts, messages, strict=True):
        last = reference.unranked_last(part)
        expected = reference.refine_message(last, [announced], window, bits, counts)
        assert message.tolist() == expected
    assert scheme.segments == Refine(announced, len(parts), window, counts, max_samples=4).segments
    found = scheme.decode(sum(messages), len(parts))
    distance = sum(reference.half_distance(found.ranks, b) for b in together)
    assert distance <= sum(reference.half_distance(announced, b) for b in together)
    if found.exact:
        assert distance == least_half_distance(together)
    if window >= n - 1:
        assert found.exact
    if found.objective is not None:
        expected = float(distance / (len(together) * n))
        assert found.objective == pytest.approx(expected, abs=1e-12)


def test_a_proof_by_chains_counts_ties_one_half():
    # 0 before 1 and 1 before 2 in all but half a ballot each of four: 0 before 2 in three at least.
    ballots = [[0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 1, 2]]
    scheme = Refine([0, 1, 2], 1, window=1, counts=True, max_samples=4, partial=True)
    found = scheme.decode(scheme.encode(ballots), survivors=1)
    assert found.exact
    # Four of five ballots tie each pair, and 5 - 2 - 2 is less than half of them.
    ballots = [[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    scheme = Refine([0, 1, 2], 1, window=1, counts=True, max_samples=5, partial=True)
    assert not scheme.decode(scheme.encode(ballots), survivors=1).exact


def test_margins_of_either_parity_are_for_partial_rankings_only():
    of = {"ranks": [0, 1, 2], "clients": 1, "window": 1, "max_samples": 9}
    assert Refine(**of, partial=True).decode([1, 2], survivors=1).order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="all even or all odd"):
        Refine(**of).decode([1, 2], survivors=1)
    with pytest.raises(ValueError, match="a margin is larger than the number of rankings"):
        Refine(**of, partial=True, counts=True).decode([1, 2, 1], survivors=1)


def test_majorities_take_partial_rankings():
    scheme = Refine([0, 1, 2], clients=1, window=2, majority=True, partial=True)
    assert scheme.encode([[2, 1, -1], [0, 0, 0], [-1, -1, 0]])[0] == 0


def test_margins_that_could_overflow_are_refused():
    Refine([0, 1], clients=2**14, window=1, max_samples=2**16 - 1, partial=True)
    with pytest.raises(ValueError, match=r"below 2\^31, 2\^30 if partial"):
        Refine([0, 1], clients=2**14, window=1, max_samples=2**16, partial=True)


# --- schemes are told ---


@pytest.mark.parametrize(
    "scheme",
    [
        Borda(4, 3, partial=True),
        Borda(4, 3, quantize=False, max_samples=9, partial=True),
        Refine([1, 0, 2], 3, window=1, counts=True, earlier=[[0, 1, 2]], partial=True),
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
    assert Study(complete).digest != Study(scheme).digest
    assert "partial=True" in repr(scheme)


def test_the_flag_is_true_or_false():
    for make in (lambda: Borda(3, 2, partial=1), lambda: Refine([0, 1], 2, 1, partial="yes")):
        with pytest.raises(ValueError, match="partial must be True or False"):
            make()


# --- federated ---


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("borda", {}),
        ("borda", {"quantize": False, "max_samples": 20}),
        ("kemeny", {"window": 2, "rounds": 3}),
        ("kemeny", {"window": 2, "rounds": 2, "counts": True, "max_samples": 20}),
        ("kemeny", {"window": 3, "majority": True}),
    ],
)
def test_secure_equals_plain(scheme, options):
    clients = some_ballots(1, 60, 8).split(5, rng=1)
    secure, plain = (
        federate(clients, scheme, secure, dropouts=[2], rng=3, **options)
        for secure in (True, False)
    )
    assert secure.consensus.ranks.tolist() == plain.consensus.ranks.tolist()
    assert secure.consensus.exact == plain.consensus.exact
    assert secure.survivors == plain.survivors == [0, 1, 3, 4]
    assert all(each.study.scheme.partial for each in secure.rounds)


def test_refinement_is_never_worse_than_its_start():
    for seed in range(10):
        votes = some_ballots(seed, 40, 9)
        near, nearer = (
            federate(votes.split(4, rng=0), scheme, secure=False, rng=0).consensus
            for scheme in ("borda", "kemeny")
        )
        assert kemeny_score(nearer, votes) <= kemeny_score(near, votes)


def test_all_pairs_known_give_central_kemeny():
    votes = some_ballots(5, 45, 8)
    found = federate(votes.split(3, rng=0), "kemeny", rng=0, window=7, counts=True).consensus
    central = aggregate(votes, "kemeny")
    assert found.exact
    assert central.exact
    assert found.objective == pytest.approx(central.objective, abs=1e-12)
    assert found.objective == pytest.approx(kemeny_score(found, votes), abs=1e-12)


def test_complete_rankings_take_part_beside_partial_ones():
    complete = Rankings([[0, 1, 2], [0, 2, 1]], items="abc")
    partial = PartialRankings([[0, 0, -1]], items="abc")
    result = federate([complete, partial, partial], "borda", quantize=False, max_samples=2)
    assert result.consensus.scores.tolist() == [0.25, 1.0, 1.75]
    assert result.consensus.items == ("a", "b", "c")
    asked = federate([complete] * 3, "borda", partial=True, quantize=False, max_samples=2)
    assert asked.study.scheme.partial
    assert asked.consensus.scores.tolist() == [0, 1.5, 1.5]


@pytest.mark.parametrize(
    ("scheme", "options"), [("borda", {"partial": True}), (Borda(3, 3, partial=True), {})]
)
def test_arrays_are_read_as_partial_where_that_is_told(scheme, options):
    ballots = [[[0, 0, -1]], [[0, 1, -1]], [[-1, 0, 1]]]
    found = federate(ballots, scheme, rng=0, **options)
    expected = federate([PartialRankings(each) for each in ballots], scheme, rng=0)
    assert found.consensus.scores.tolist() == expected.consensus.scores.tolist()
    assert found.study == expected.study
    with pytest.raises(ValueError, match=r"client 0: row 0 .*-1 .* use PartialRankings"):
        federate(ballots)


def test_clients_count_by_their_ballots_without_quantizing():
    many, few = PartialRankings([[0, 1, -1]] * 30), PartialRankings([[1, 0, -1]])
    by_ballot = federate([many, few, few], "borda", quantize=False, max_samples=30)
    assert by_ballot.consensus.order.tolist() == [0, 1, 2]
    by_client = federate([many, few, few], "borda")
    assert by_client.consensus.order.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("scheme", "options", "problem"),
    [
        ("lehmer", {}, "Lehmer codes are of complete rankings: complete these, .* or use borda"),
        (Lehmer(2, 3), {}, "Lehmer codes are of complete rankings"),
        (Borda(2, 3), {}, "make the scheme with partial=True"),
        (Refine([0, 1], 3, 1), {}, "make the scheme with partial=True"),
        ("borda", {"fit_phi": True}, "fit_phi needs complete rankings"),
        ("borda", {"partial": False}, "partial rankings are not taken here"),
        ("kemeny", {"partial": False}, "partial rankings are not taken here"),
        ("kemeny", {"max_samples": 1}, "client 0 has 2 rankings, more than max_samples = 1"),
    ],
)
def test_what_cannot_take_partial_rankings_says_what_to_do(scheme, options, problem):
    with pytest.raises(ValueError, match=problem):
        federate([PartialRankings([[0, 0], [-1, 0]])] * 3, scheme, **options)


# --- readers ---


def test_preflib_keeps_ties_and_gaps():
    votes = data.read_preflib(SAMPLES / "small.toi", complete=False)
    assert votes.items == ("Ann", "Bob", "Cy", "Dée")
    assert votes.ranks.tolist() == [[1, 1, 2, 0]] * 3 + [[-1, -1, 0, -1]] * 2 + [[1, 0, 0, -1]]


def test_ballots_keep_ties_and_gaps():
    votes = data.read_ballots(SAMPLES / "cvr.csv", complete=False)
    assert votes.ranks.tolist() == [[0, 1, -1], [1, -1, 0], [-1, 0, -1], [-1, -1, 0]]
    votes = data.read_ballots(SAMPLES / "profile.csv", complete=False)
    assert votes.ranks.tolist() == [[0, -1, 1]] * 3 + [[-1, 0, -1]] * 2 + [[2, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (data.read_preflib, "small.toi"),
        (data.read_preflib, "latin1.soi"),
        (data.read_preflib, "old.toc"),
        (data.read_ballots, "cvr.csv"),
        (data.read_ballots, "profile.csv"),
    ],
)
def test_completing_what_was_read_is_reading_it_complete(read, name):
    partial = read(SAMPLES / name, complete=False)
    assert partial.complete(rng=4) == read(SAMPLES / name, rng=4)


def test_a_blank_ballot_cannot_be_kept_unranked():
    with pytest.raises(ValueError, match="leave out keep_blank"):
        data.read_ballots(SAMPLES / "cvr.csv", keep_blank=True, complete=False)
