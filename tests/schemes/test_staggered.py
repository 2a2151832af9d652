"""Staggered means against their definition, and what they promise (M16)."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Mallows, aggregate, federate, kemeny_score, kendall_distance
from fedrank.planning import simulate
from helpers import realdata, reference
from helpers.strategies import partial, profiles, seeds

LEVELS = [1, 2, 3, 4, 8, 2**32 - 1]


def total_of(scheme, clients, survivors=None):
    """Sum of the messages of clients, in the order of the roster."""
    left = range(len(clients)) if survivors is None else survivors
    return sum(scheme.encode(clients[c], client=c) for c in left)


# --- the formula ---


@given(profiles(8), st.sampled_from(LEVELS), st.integers(1, 40), st.data())
def test_a_message_is_the_shifted_mean_rounded_down(rankings, levels, clients, data):
    n, client = len(rankings[0]), data.draw(st.integers(0, clients - 1))
    expected = reference.staggered(rankings, levels, client, clients) if n > 1 else []
    scheme = Borda(n, clients, levels=levels)
    assert scheme.encode(rankings, client=client).tolist() == expected
    expected = reference.staggered(rankings, levels, client, clients, 11) if n > 1 else []
    weighted = Borda(n, clients, send="weighted", levels=levels, max_samples=11)
    assert weighted.encode(rankings, client=client).tolist() == expected


def test_a_message_is_the_shifted_mean_rounded_down_on_a_grid():
    # All means of up to nine rankings of two items: the shifts meet every boundary between levels.
    for samples, levels, clients in product(range(1, 10), (1, 2, 3, 4, 7), (1, 2, 3, 4, 6)):
        scheme = Borda(2, clients, levels=levels)
        for second in range(samples + 1):
            rankings = [[0, 1]] * (samples - second) + [[1, 0]] * second
            for client in range(clients):
                expected = reference.staggered(rankings, levels, client, clients)
                assert scheme.encode(rankings, client=client).tolist() == expected


@given(profiles(6, rows=partial), st.sampled_from(LEVELS), st.integers(1, 9), st.data())
def test_partial_rankings_send_their_mean_mid_ranks_at_the_same_width(
    ballots, levels, clients, data
):
    n, client = len(ballots[0]), data.draw(st.integers(0, clients - 1))
    means = [*map(reference.mid_ranks, ballots)]
    scheme = Borda(n, clients, levels=levels, partial=True)
    assert scheme.segments == Borda(n, clients, levels=levels).segments
    expected = reference.staggered(means, levels, client, clients) if n > 1 else []
    assert scheme.encode(ballots, client=client).tolist() == expected
    weighted = Borda(n, clients, send="weighted", levels=levels, max_samples=9, partial=True)
    expected = reference.staggered(means, levels, client, clients, 9) if n > 1 else []
    assert weighted.encode(ballots, client=client).tolist() == expected


@pytest.mark.parametrize("clients", [1, 2, 3, 10, 64])
@pytest.mark.parametrize("levels", [1, 4, 5])
def test_the_largest_entry_is_levels_times_the_last_position_and_the_sum_fits(clients, levels):
    for n in (2, 3, 9, 17):
        scheme = Borda(n, clients, levels=levels)
        sent = [scheme.encode([list(range(n))] * 3, client=c) for c in range(clients)]
        assert all(message.max() == levels * (n - 1) for message in sent)
        total = sum(sent)
        assert int(total[-1]).bit_length() == scheme.segments[0].bits
        assert (scheme.unpack(scheme.pack(total)) == total).all()


def test_widths_and_clients_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match="levels is too large"):
        Borda(2**20, clients=2**20, levels=2**32 - 1)
    for wrong in (0, -1, 1.5, True, "4", 2**32):
        with pytest.raises(ValueError, match="levels must"):
            Borda(3, 2, levels=wrong)
    for wrong in (2, -1, None, "0", 0.5):
        with pytest.raises(ValueError, match="client must"):
            Borda(3, 2).encode([[0, 1, 2]], client=wrong)
    with pytest.raises(TypeError, match="client"):
        Borda(3, 2).encode([[0, 1, 2]])


# --- the promise ---


def longest_gap(survivors, clients):
    """Length of the longest cyclic run of missing roster indices."""
    present = [client in survivors for client in range(clients)]
    runs = [0]
    for here in present * 2:
        runs.append(0 if here else runs[-1] + 1)
    return max(runs)


def check_promise(rankings, levels, clients, survivors):
    """No pair of the exact order is inverted, and only pairs nearer than stated are tied."""
    total = [
        sum(column)
        for column in zip(
            *(
                Borda(len(rankings[0]), clients, levels=levels)
                .encode(rankings, client=client)
                .tolist()
                for client in survivors
            ),
            strict=True,
        )
    ]
    means = [Fraction(each, len(rankings)) for each in reference.position_sums(rankings)]
    limit = Fraction(longest_gap(survivors, clients) + 1, levels * clients)
    for a, b in permutations(range(len(total)), 2):
        if means[a] < means[b]:
            assert total[a] <= total[b]
            assert total[a] < total[b] or means[b] - means[a] < limit


@given(
    profiles(6, most_rows=12).filter(lambda rows: len(rows[0]) > 1),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 12),
    st.data(),
)
def test_clients_that_agree_never_invert_a_pair_and_tie_near_ones_only(
    rankings, levels, clients, data
):
    chosen = st.lists(st.integers(0, clients - 1), min_size=1, unique=True)
    check_promise(rankings, levels, clients, sorted(data.draw(chosen)))


@pytest.mark.parametrize("clients", range(1, 5))
def test_the_promise_for_all_small_profiles_and_dropouts(clients):
    for samples in (1, 2, 3):
        for rankings in combinations_with_replacement([*permutations(range(3))], samples):
            for count in range(1, clients + 1):
                for survivors in combinations(range(clients), count):
                    for levels in (1, 2):
                        check_promise(rankings, levels, clients, survivors)


def test_ties_reach_as_far_as_stated_if_neighbours_in_the_roster_are_lost():
    # Clients 2 and 3 of 4 are lost: g = 2, so the limit is 3/4 of a place at one level. Shifts 1/8
    # and 3/8 are left, so that means from 7/8 to less than 13/8 are rounded alike.
    rankings = [(1, 2, 0)] * 6 + [(0, 2, 1)] * 3 + [(2, 1, 0)] * 4 + [(0, 1, 2)] * 3
    assert reference.position_sums(rankings) == [14, 25, 9]  # of 16: means 14/16 and 25/16
    total = total_of(Borda(3, 4, levels=1), [rankings] * 4, [0, 1])
    assert total[0] == total[1]
    assert longest_gap([0, 1], 4) == 2


@pytest.mark.parametrize("n", [*range(1, 41), 100, 978])
def test_clients_of_one_mind_get_their_ranking_back(n):
    for seed, (clients, levels) in enumerate([(1, 4), (3, 4), (10, 4), (4, 1)]):
        ranking = np.random.default_rng([n, seed]).permutation(n)
        for send in ({}, {"send": "weighted", "max_samples": clients}):
            scheme = Borda(n, clients, levels=levels, **send)
            holdings = [[ranking] * (clients if send else c + 1) for c in range(clients)]
            found = scheme.decode(total_of(scheme, holdings), clients)
            assert found.ranks.tolist() == ranking.tolist()
            assert found.ties == 0
            assert found.scores == pytest.approx(ranking, abs=1e-9)


@given(profiles(6, most_rows=9).filter(lambda rows: len(rows[0]) > 1), st.integers(1, 9))
def test_scores_are_mean_positions_within_half_a_resolution(rankings, clients):
    scheme = Borda(len(rankings[0]), clients)
    found = scheme.decode(total_of(scheme, [rankings] * clients), clients)
    means = np.array(rankings).mean(axis=0)
    assert np.abs(found.scores - means).max() <= scheme.resolution / 2 + 1e-12


@pytest.mark.parametrize("send", ["means", "weighted"])
@given(data=st.data(), seed=seeds)
def test_secure_is_plain_with_dropouts(send, data, seed):
    n, clients = data.draw(st.integers(1, 6)), 5
    rows = st.lists(st.permutations(range(n)), min_size=1, max_size=4)
    parts = data.draw(st.lists(rows, min_size=clients, max_size=clients))
    lost = data.draw(st.sampled_from([[], [0], [4]]))
    options = {"send": send, "dropouts": lost, "rng": seed}
    masked, bare = (federate(parts, secure=secure, **options) for secure in (True, False))
    assert masked.ranks.tolist() == bare.ranks.tolist()
    assert masked.scores.tolist() == bare.scores.tolist()
    scheme = masked.scheme
    left = [c for c in range(clients) if c not in lost]
    total = total_of(scheme, parts, left)
    again = scheme.decode(total, len(left), ties="index")
    assert masked.scores.tolist() == again.scores.tolist()


@pytest.mark.parametrize("n", [3, 10, 100])
def test_a_wrong_number_of_survivors_is_refused(n):
    # Each client's entries add up to levels n (n - 1)/2, within n.
    parts = Mallows(0.7, n=n).sample(60, rng=n).split(6, rng=n)
    scheme = Borda(n, 6, levels=16)
    total = total_of(scheme, parts, range(5))
    assert scheme.decode(total, 5).ranks.shape == (n,)
    for wrong in (3, 4, 6):
        with pytest.raises(ValueError, match="is the number of survivors right"):
            scheme.decode(total, wrong)


# --- what it gives ---


def primary(clients, rng):
    """Ballots of four candidates: two lead, the first by 0.15 of a place; 2,000 or more each.

    Seven voters in ten have the leaders in front, in one order with probability p; the others vote
    anyhow. The leaders' mean positions then differ by 0.7 (2 p - 1).
    """
    p = (1 + 0.15 / 0.7) / 2
    parts = []
    for size in rng.integers(2000, 5000, clients):
        anyhow = rng.permuted(np.tile(np.arange(4), (size, 1)), axis=1)
        leaders, others = np.arange(2), np.arange(2, 4)
        first = np.where(rng.random((size, 1)) < p, leaders, leaders[::-1])
        second = np.where(rng.random((size, 1)) < 0.5, others, others[::-1])
        loyal = rng.random((size, 1)) < 0.7
        parts.append(np.where(loyal, np.hstack([first, second]), anyhow).astype(np.int32))
    return parts


@pytest.mark.parametrize("clients", [3, 5, 10, 20])
def test_a_close_primary_has_the_exact_winner_for_20_of_20_seeds(clients):
    wrong_by_the_paper = 0
    for seed in range(20):
        parts = primary(clients, np.random.default_rng([clients, seed]))
        exact = aggregate(np.vstack(parts), "borda")
        sums = np.sort(exact.scores)
        assert 0.05 < sums[1] - sums[0] < 0.25
        scheme = Borda(4, clients)
        found = scheme.decode(total_of(scheme, parts), clients, rng=seed)
        assert found.order[0] == exact.order[0]
        paper = Borda(4, clients, send="centroids")
        theirs = paper.decode(total_of(paper, parts), clients, rng=seed)
        wrong_by_the_paper += theirs.order[0] != exact.order[0]
    assert wrong_by_the_paper > 3  # both leaders share a bin, and chance decides


@pytest.mark.parametrize("repetitions", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_weighted_means_count_rankings_and_come_near_exact_sums(repetitions):
    # M16: n = 10, phi .8, log-normal sizes: 2.17 with M6 at 7 bits, .86 with k = 8 at 10 bits, and
    # .86 exact.
    n, clients = 10, 10
    errors = {"centroids": [], "weighted": [], "sums": []}
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        sizes = np.maximum(1, np.rint(rng.lognormal(np.log(10), 1.2, clients))).astype(int)
        parts = [Mallows(0.8, n=n).sample(int(size), rng).ranks for size in sizes]
        bound = int(2 ** int(sizes.max()).bit_length() - 1)
        schemes = {
            "centroids": Borda(n, clients, send="centroids"),
            "weighted": Borda(n, clients, send="weighted", levels=8, max_samples=bound),
            "sums": Borda(n, clients, send="sums", max_samples=bound),
        }
        for name, scheme in schemes.items():
            found = scheme.decode(total_of(scheme, parts), clients, rng=seed)
            errors[name].append(kendall_distance(found, range(n)))
    assert (schemes["centroids"].segments[0].bits, schemes["weighted"].segments[0].bits) == (7, 10)
    means = {name: np.mean(each) for name, each in errors.items()}
    beside = np.array(errors["weighted"]) - errors["sums"]
    error = beside.std(ddof=1) / repetitions**0.5
    # Here the bound is up to twice the largest size, and the sizes are wider than M16's may be.
    assert abs(beside.mean()) < 0.2 + 3 * error
    assert means["centroids"] > 1.5 * means["weighted"]


# --- error figures ---

SETTINGS = [(10, 0.3, 50), (10, 0.9, 500), (20, 0.6, 5), (30, 0.95, 200), (100, 0.6, 5)]
"""M16's: items, phi of the data, rankings per client; ten clients."""


def errors_of(n, phi, samples, repetitions):
    """Distances to the center: of the paper's quantizer, levels 1, 2, 4, and exact sums."""
    rules = [Borda(n, 10, send="centroids"), *(Borda(n, 10, levels=k) for k in (1, 2, 4)), "borda"]
    return simulate(
        rules, phi=phi, n=n, clients=10, samples=samples, repetitions=repetitions, rng=n
    )


def plain_errors(n, phi, samples, repetitions):
    """The same from the definitions, with samples drawn by repeated insertion (M3)."""
    rng, clients = np.random.default_rng(n), 10
    expected = np.array([float(e) for e in reference.expected_positions_by_formula(0.6, n)])
    midpoints, shifts = (expected[1:] + expected[:-1]) / 2, 2 * np.arange(clients)[:, None] + 1

    def error(sums):
        order = np.lexsort((rng.random(n), sums))
        return sum(int((order[i] > order[i + 1 :]).sum()) for i in range(n))

    rows = []
    for _ in range(repetitions):
        ranks = np.zeros((clients * samples, n), dtype=np.int64)
        for item in range(n):
            weights = phi ** np.arange(item + 1)
            digits = rng.choice(item + 1, len(ranks), p=weights / weights.sum())
            ranks[:, :item] += ranks[:, :item] >= (item - digits)[:, None]
            ranks[:, item] = item - digits
        sums = ranks.reshape(clients, samples, n).sum(axis=1)
        either = rng.choice([-1e-9, 1e-9], sums.shape)  # of a mean on a midpoint
        found = [np.searchsorted(midpoints, sums / samples + either)]
        found += [
            (2 * clients * k * sums + shifts * samples) // (2 * clients * samples)
            for k in (1, 2, 4)
        ]
        rows.append([error(each.sum(axis=0)) for each in (*found, sums)])
    return np.array(rows)


def check_against_sums(found):
    """Four levels cost at most 0.2 pairs; all clients are alike, so exact sums are their means."""
    beside = found[:, 3] - found[:, 4]
    error = beside.std(ddof=1) / len(beside) ** 0.5
    assert beside.mean() <= 0.2 + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_errors_are_those_of_a_plain_simulation(setting):
    ours, plain = errors_of(*setting, 2000), plain_errors(*setting, 600)
    check_against_sums(ours)
    for column in range(5):
        error = np.hypot(*(e[:, column].std(ddof=1) / len(e) ** 0.5 for e in (ours, plain)))
        # Errors near 0 are few: their standard error says little.
        assert abs(ours[:, column].mean() - plain[:, column].mean()) <= 4 * error + 0.005


@pytest.mark.slow
def test_errors_of_genes_are_near_exact_sums():
    found = errors_of(978, 0.6, 20, repetitions=400)
    check_against_sums(found)
    assert found[:, 3].mean() < found[:, 0].mean() - 1  # the paper's quantizer


@pytest.mark.parametrize("setting", [(10, 0.3, 50), (10, 0.9, 500), (20, 0.6, 5), (100, 0.6, 5)])
def test_errors_are_near_exact_sums_in_a_few_repetitions(setting):
    found = errors_of(*setting, repetitions=100)
    check_against_sums(found)
    assert found[:, 3].mean() <= found[:, 0].mean()


# --- real data ---

DATA = {"jester": 50, "luad": 10, "lusc": 10, "maine": 50}
SPLITS = [3, pytest.param(20, marks=pytest.mark.slow)]


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("name", DATA)
def test_means_of_real_data_are_within_noise_of_exact_sums(name, splits):
    rankings, clients = getattr(realdata, name)(), DATA[name]
    exact = kemeny_score(aggregate(rankings, "borda", rng=0), rankings)
    scheme, beside = Borda(rankings.n, clients), []
    for seed in range(splits):
        total = total_of(scheme, rankings.split(clients, rng=seed))
        found = scheme.decode(total, clients, rng=seed)
        beside.append(kemeny_score(found, rankings) - exact)
    # LUSC's 35 rankings are dealt unequally, so clients weigh differently from rankings.
    assert np.mean(beside) <= 3 * np.std(beside, ddof=1) / splits**0.5 + 1e-6


@given(st.data())
def test_scores_of_weighted_means_are_positions(data):
    n, clients = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 5))
    bound = data.draw(st.integers(3, 300))
    rows = st.lists(st.permutations(range(n)), min_size=1, max_size=3)
    scheme = Borda(n, clients, send="weighted", max_samples=bound)
    there = data.draw(st.sets(st.integers(0, clients - 1), min_size=1))
    total = sum(scheme.encode(data.draw(rows), client=client) for client in there)
    scores = scheme.decode(total, len(there), rng=0).scores
    assert scores.min() >= 0
    assert scores.max() <= n - 1
