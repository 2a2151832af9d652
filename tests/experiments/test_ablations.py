"""The ablations beyond the paper: tables against the definitions, pictures, and required marks."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Lehmer, Mallows, aggregate, data, federate, kemeny_score
from fedrank.experiments import FIGURES, Options, ablations, find, reproduce, table
from fedrank.experiments.ablations import base, borda, lehmer, means, pareto, weights
from helpers import realdata, reference
from helpers.realdata import DATA, need

pytest.importorskip("matplotlib")


def generator(seed=0):
    return np.random.default_rng(seed)


# --- Lehmer ---


def middle_digits(rankings):
    """The median digits of each place, in a set for each: two if their number is even."""
    places = [sorted(place) for place in zip(*map(reference.encode, rankings), strict=True)]
    count = len(rankings)
    return [{place[(count - 1) // 2], place[count // 2]} for place in places]


def renumbered(rankings, announced):
    """Item k is now the one that the announced ranking has at place k."""
    order = reference.inverse(announced)
    return [tuple(r[item] for item in order) for r in rankings]


def reference_lehmer(parts, send, decode, centred, low_bits, source):
    """M8 with another statistic at the client, perhaps about an announced consensus."""
    n = len(parts[0][0])
    announced = reference.federated_borda(parts, 0.6, source) if centred else tuple(range(n))
    held = [renumbered(part, announced) for part in parts]
    digits = middle_digits if send == "median" else reference.lehmer_digits
    messages = [
        reference.lehmer_message(reference.drawn(digits(part), source), low_bits) for part in held
    ]
    total = [sum(entries) for entries in zip(*messages, strict=True)]
    server = reference.lehmer_server(total, n, low_bits, len(parts), decode)
    found = reference.decode(reference.drawn(server, source))
    return tuple(found[announced[item]] for item in range(n))


@given(st.lists(st.permutations(range(7)), min_size=1, max_size=8))
def test_a_client_may_send_the_medians_of_its_digits(rankings):
    found = lehmer.median_ranking(np.array(rankings, dtype=np.int32), generator())
    digits = reference.encode(found.tolist())
    assert all(d in middle for d, middle in zip(digits, middle_digits(rankings), strict=True))


def test_the_middle_two_digits_are_equally_likely():
    rankings = np.array([[0, 1], [1, 0]], dtype=np.int32)
    rng = generator(3)
    turned = sum(lehmer.median_ranking(rankings, rng).tolist() == [1, 0] for _ in range(400))
    assert abs(turned - 200) < 5 * 10


VARIANTS = [
    ("plurality", "nearest", "no", 0),
    ("plurality", "paper", "yes", 2),
    ("plurality", "nearest", "yes", 3),
    ("median", "nearest", "no", 1),
    ("median", "paper", "no", 3),
    ("median", "nearest", "yes", 0),
]


@pytest.mark.parametrize("center", ["identity", "random"])
def test_rows_of_the_lehmer_ablation_agree_with_the_definitions(center):
    n, phi, samples, repetitions = 7, 0.6, 3, 40
    part = {"n": n, "center": center, "phi": phi, "samples": samples}
    rows = FIGURES["lehmer-study"].run(part, Options(seed=2, repetitions=repetitions))
    assert len(rows) == 1 + 4 * 2 * 2 * 2
    source = random.Random(center)
    distances = {variant: [] for variant in VARIANTS}
    for _ in range(repetitions):
        truth = tuple(source.sample(range(n), n)) if center == "random" else tuple(range(n))
        parts = [[reference.sample(phi, truth, source) for _ in range(samples)] for _ in range(10)]
        for send, decode, centred, low_bits in VARIANTS:
            found = reference_lehmer(parts, send, decode, centred == "yes", low_bits, source)
            distances[send, decode, centred, low_bits].append(reference.kendall(found, truth))
    for variant, theirs in distances.items():
        (row,) = [
            row
            for row in rows
            if (row["send"], row["decode"], row["centred"], row["low_bits"]) == variant
        ]
        error = math.hypot(row["standard_error"], np.std(theirs, ddof=1) / math.sqrt(repetitions))
        assert abs(row["mean"] - np.mean(theirs)) < 5 * error, variant
        bits = sum(reference.lehmer_widths(n, 10, variant[3]))
        announced = sum(reference.borda_widths(n, 10)) if variant[2] == "yes" else 0
        assert row["bits"] == bits + announced


def test_numbering_by_the_consensus_of_agreeing_clients_changes_nothing():
    ranking = generator(1).permutation(9).astype(np.int32)
    parts = [np.tile(ranking, (3, 1))] * 4
    for found in lehmer.compare_lehmer(parts, generator()):
        if found.labels["send"] != "places":  # which may tie, and be announced all the same
            assert found.ranks.tolist() == ranking.tolist(), found.labels


# --- Borda ---


@given(
    st.lists(st.lists(st.permutations(range(5)), min_size=1, max_size=6), min_size=1, max_size=5)
)
def test_means_rounded_by_chance_rank_by_the_sum_of_neighbouring_levels(parts):
    lowest, highest = [0] * 5, [0] * 5
    for part in parts:
        for item, total in enumerate(reference.position_sums(part)):
            lowest[item] += math.floor(Fraction(total, len(part)))
            highest[item] += math.ceil(Fraction(total, len(part)))
    given_parts = [np.array(part, dtype=np.int32) for part in parts]
    found, bits = borda.rounded_by_chance(given_parts, generator())
    for a in range(5):
        for b in range(5):
            assert found[a] < found[b] or lowest[b] <= highest[a]
    assert bits == 5 * reference.bits_for(len(parts) * 4)


def test_rounding_by_chance_keeps_the_mean():
    # Means 0.25, 0.75 and 2: the first two are told apart, and by nearest positions always too.
    part = np.array([[0, 1, 2]] * 3 + [[1, 0, 2]], dtype=np.int32)
    rng = generator(5)
    right = [borda.rounded_by_chance([part], rng)[0].tolist() == [0, 1, 2] for _ in range(2000)]
    # One client: (0, 1) with 9/16, (1, 0) with 1/16, ties with 6/16, of which half are right.
    assert np.mean(right) == pytest.approx(0.75, abs=5 * math.sqrt(0.1875 / 2000))


def test_rows_of_the_borda_ablation_are_of_the_schemes():
    part = {"n": 7, "samples": 5, "phi": 0.6}
    rows = FIGURES["borda-study"].run(part, Options(repetitions=80))
    found = {row["quantizer"]: row for row in rows}
    # The least 2^k - 1 from 5 on.
    assert found["exact"]["bits"] == sum(reference.borda_widths(7, 10, samples=7))
    assert found["phi 0.6"]["bits"] == sum(reference.borda_widths(7, 10))
    assert found[borda.DEFAULT]["bits"] == 7 * reference.bits_for(10 * 4 * 6)
    source = random.Random(8)
    theirs = {"exact": [], "phi 0.6": [], "phi 0.9": [], borda.DEFAULT: []}
    for _ in range(80):
        parts = [[reference.sample(0.6, range(7), source) for _ in range(5)] for _ in range(10)]
        results = {
            "exact": reference.central_borda(parts, source),
            "phi 0.6": reference.federated_borda(parts, 0.6, source),
            "phi 0.9": reference.federated_borda(parts, 0.9, source),
            borda.DEFAULT: reference.ranked(
                reference.position_sums(
                    [reference.staggered(part, 4, i, 10) for i, part in enumerate(parts)]
                ),
                source,
            ),
        }
        for name, ranks in results.items():
            theirs[name].append(reference.kendall(ranks, range(7)))
    for name, distances in theirs.items():
        row = found[name]
        error = math.hypot(row["standard_error"], np.std(distances, ddof=1) / math.sqrt(80))
        assert abs(row["mean"] - np.mean(distances)) < 5 * error, name


def test_places_beyond_0_39_tie_the_first_two_items_of_clients_that_agree():
    agreed = [tuple(range(10))]
    for phi in borda.BordaPhi.phis:
        (first,), (second,) = reference.borda_places(agreed, phi)[:2]
        assert (first == second) == (phi > 0.39)
    rows = FIGURES["borda-phi"].run({"n": 10, "phi": 0.0, "samples": 5}, Options(repetitions=400))
    found = {row["quantizer"]: row["beside_mean"] for row in rows}
    assert found["exact"] == found["phi 0"] == found["phi 0.39"] == found[borda.DEFAULT] == 0
    # Two pairs that tie, each wrong in half of the cases.
    assert found["phi 0.6"] == pytest.approx(1, abs=5 * math.sqrt(0.5 / 400))


# --- staggered means ---


def test_means_of_clients_of_one_mind_are_right_and_the_papers_are_not():
    part = {"n": 10, "center": "random", "phi": 0.0, "samples": 5}
    rows = FIGURES["means"].run(part, Options(repetitions=40))
    found = {row["send"]: row for row in rows}
    assert {row["mean"] for name, row in found.items() if name != "centroids"} == {0}
    # Two pairs that tie, each wrong in half of the cases.
    assert found["centroids"]["mean"] == pytest.approx(1, abs=5 * math.sqrt(0.5 / 40))
    bits = {name: row["bits"] for name, row in found.items()}
    assert bits["means, 4"] == sum(reference.borda_widths(10, 10, 4))
    assert bits["weighted, 8"] == sum(reference.borda_widths(10, 10, 8))
    assert bits["sums"] == sum(reference.borda_widths(10, 10, 7))  # the least 2^k - 1 from 5 on


def test_a_close_primary_is_as_close_as_it_says():
    parts, error = means.primary_trial({"clients": 20}, 0, Options(), generator())
    ballots = np.concatenate(parts)
    assert all(sorted(row) == [0, 1, 2, 3] for row in ballots[:100].tolist())
    places = ballots.mean(axis=0)
    # Five standard errors of the difference of two positions, which is 3 at most.
    assert places[1] - places[0] == pytest.approx(0.15, abs=15 / math.sqrt(len(ballots)))
    assert all(2000 <= len(part) < 5000 for part in parts)
    assert (error(np.array([0, 1, 2, 3])), error(np.array([1, 0, 2, 3]))) == (0, 1)


def test_log_normal_clients_are_unequal_and_about_one_center():
    part = {"n": 10, "phi": 0.8, "median": 10, "spread": 1.2}
    parts, error = means.log_normal_trial(part, 0, Options(), generator())
    assert len(parts) == 10
    assert max(map(len, parts)) > 4 * min(map(len, parts))
    assert error(aggregate(np.concatenate(parts), "kemeny", rng=0).ranks) < 10


# --- bits against error ---


def test_bits_of_a_refinement_are_those_of_all_its_rounds():
    parts = list(Mallows(0.7, n=12).sample(50, rng=1).ranks.reshape(10, 5, 12))
    found = {
        (each.labels["method"], each.labels["setting"]): each
        for each in pareto.compare_all(parts, generator())
    }
    # Weighted means at eight levels, of at most 7 rankings; means at four.
    weighted, means = (12 * reference.bits_for(10 * levels * 11) for levels in (8, 4))
    pairs = len(reference.refine_pairs([range(12)], 4))
    assert found["Refine", "w 4"].bits == weighted + pairs * reference.refine_bits(10, 7)
    assert found["Refine, majority", "w 4"].bits == means + pairs * reference.bits_for(10)
    assert found["Refine, rounds", "w 1"].bits >= found["Refine", "w 1"].bits
    assert found["Refine, auto", "auto"].bits >= weighted + 11 * reference.refine_bits(10, 7)
    assert (found["Lehmer", "I 0"].rounds, found["Refine", "w 4"].rounds) == (1, 2)
    assert found["Refine, auto", "auto"].rounds >= 2
    assert found["Borda, means", "4 levels"].bits == means
    assert ("Refine", "w 16") not in found  # there are only 12 items
    assert found["Lehmer", "I 4"].bits == sum(reference.lehmer_widths(12, 10, 4))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_nothing_beats_the_frontier_and_it_beats_the_rest(points):
    rows = [{"bits": bits, "mean": mean} for bits, mean in points]
    best = [(row["bits"], row["mean"]) for row in pareto.frontier(rows)]
    unbeaten = {
        (b, m)
        for b, m in points
        if not any(bits <= b and mean <= m and (bits, mean) != (b, m) for bits, mean in points)
    }
    assert best == sorted(unbeaten)


# --- weights ---


def test_unequal_clients_have_the_sizes_they_stand_for():
    assert (len(weights.REGIONS), sum(weights.REGIONS)) == (10, 4981)
    assert (max(weights.REGIONS), min(weights.REGIONS)) == (2397, 87)
    assert len(weights.PRECINCTS) == 50
    assert list(weights.PRECINCTS) == sorted(weights.PRECINCTS, reverse=True)
    part = {"profile": "regions", "differ": "alike", "share": 0.25, "distance": 0}
    parts, _ = weights.unequal_trial(part, 0, Options(), generator())
    assert [len(each) for each in parts] == [math.ceil(size / 4) for size in weights.REGIONS]


@pytest.mark.parametrize("distance", [0, 1, 10, 45])
def test_the_other_center_is_as_far_as_it_says(distance):
    found = weights.moved(10, distance, generator(distance))
    assert reference.kendall(found.tolist(), range(10)) == distance


def test_small_clients_that_differ_are_the_small_ones():
    part = {"profile": "regions", "differ": "size", "share": 0.1, "distance": 45}
    parts, error = weights.unequal_trial(part, 0, Options(), generator())
    mostly = [
        np.mean([reference.kendall(r, range(10)) for r in each.tolist()]) > 22.5 for each in parts
    ]
    assert mostly == [False] * 4 + [True] * 6
    everyone = np.concatenate(parts)
    assert error(aggregate(everyone, "kemeny", rng=1).ranks) == pytest.approx(0, abs=1e-9)
    total = sum(reference.kendall(range(10), r) for r in everyone.tolist()) / len(everyone)
    turned = sum(reference.kendall(range(9, -1, -1), r) for r in everyone.tolist()) / len(everyone)
    identity = np.arange(10, dtype=np.int32)
    assert error(identity[::-1].copy()) - error(identity) == pytest.approx(turned - total)


def test_weights_matter_where_small_clients_differ_and_not_where_all_are_alike():
    figure, options = FIGURES["weights"], Options(repetitions=20)
    part = {"profile": "regions", "differ": "size", "share": 1.0, "distance": 15}
    apart = {row["weight"]: row["mean"] for row in figure.run(part, options)}
    assert apart["ranking"] < 0.2
    assert apart["client, places"] > 0.5
    part = {"profile": "regions", "differ": "alike", "share": 1.0, "distance": 0}
    alike = {row["weight"]: row["mean"] for row in figure.run(part, options)}
    assert max(alike.values()) < 1


# --- figures ---

PANELS = {
    "lehmer-study": 8,
    "borda-study": 12,
    "borda-phi": 1,
    "means": 8,
    "means-primary": 4,
    "means-weights": 1,
    "pareto-mallows": 2,
    "weights": 6,
}
LIGHT = {"lehmer-study": {"phi": 0.6, "samples": 20}, "borda-study": {"phi": 0.6}}


@pytest.mark.parametrize("name", PANELS)
def test_pictures_exist_and_their_axes_are_labelled(name, tmp_path, monkeypatch):
    parts = table.matching(FIGURES[name].parts(Options()), LIGHT.get(name, {}))
    monkeypatch.setattr(FIGURES[name], "parts", lambda _: parts)
    (made,) = reproduce([name], tmp_path, Options(repetitions=1), formats=("png",))
    assert made.pictures[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    rows = table.load(made.table)
    assert {row["repetitions"] for row in rows} == {1}
    drawn = FIGURES[name].draw(rows)
    assert len(drawn.axes) == PANELS[name]
    assert all(axes.get_title() for axes in drawn.axes)
    assert drawn.axes[-1].get_xlabel()
    assert drawn.axes[0].get_ylabel()
    assert drawn.get_suptitle() == FIGURES[name].title
    assert drawn.legends


def test_a_point_already_in_the_table_is_not_computed_again(tmp_path, monkeypatch):
    options = Options(repetitions=1)
    (made,) = reproduce(["pareto-mallows"], tmp_path, options, formats=())
    before = made.table.read_bytes()
    monkeypatch.setattr(base.Ablation, "run", None)
    reproduce(["pareto-mallows"], tmp_path, options, formats=())
    assert made.table.read_bytes() == before


def test_ablations_are_a_group_and_real_ones_wait_for_their_data(tmp_path):
    assert [figure.name for figure in find(["beyond"])] == [each.name for each in ablations.FIGURES]
    with pytest.raises(FileNotFoundError, match="fedrank data fetch jester"):
        reproduce(["lehmer-real"], tmp_path, Options(repetitions=1, data=tmp_path))


def test_an_ablation_of_real_data_measures_the_objective():
    figure = FIGURES["borda-real"]
    need("maine", "Maine_06122018_DemocraticPrimaryforGovernor.csv")
    options = Options(repetitions=2, data=DATA)
    rows = figure.run({"data": "maine", "samples": 50}, options)
    assert {(row["n"], row["clients"], row["used"]) for row in rows} == {(8, 50, 2500)}
    votes = data.read_ballots(
        DATA / "maine" / "Maine_06122018_DemocraticPrimaryforGovernor.csv", rng=0
    )
    best = aggregate(votes, "kemeny", rng=0).objective
    assert all(best <= row["mean"] < best + 0.1 for row in rows if row["quantizer"] != "phi 0.9")


# --- what the defaults must reach ---

SPLITS = [2, pytest.param(20, marks=pytest.mark.slow)]


def mean_score(rankings, clients, splits):
    """Of the default Lehmer scheme, over seeded splits."""
    return np.mean(
        [
            kemeny_score(
                federate(rankings.split(clients, rng=seed), "lehmer", secure=False, rng=seed),
                rankings,
            )
            for seed in range(splits)
        ]
    )


@pytest.mark.parametrize("splits", SPLITS)
def test_lehmer_reaches_its_mark_on_jester(splits):
    # The full histogram, as in the paper, comes to 20.1. Splits differ by a few hundredths.
    assert mean_score(realdata.jester(), 50, splits) <= (19.38 if splits == 20 else 19.45)


@pytest.mark.parametrize("splits", SPLITS)
def test_lehmer_reaches_its_mark_on_luad(splits):
    # The full histogram comes to 80.4. Splits differ by a tenth.
    assert mean_score(realdata.luad(), 10, splits) <= (70.75 if splits == 20 else 71.0)


@pytest.mark.parametrize("phi", [0.8, 0.98])
def test_lehmer_beats_the_full_histogram_around_a_random_center(phi):
    excess = {0: 0.0, 10: 0.0}  # over the center's objective, by low bits; 0 is the default
    for seed in range(5):
        center = np.random.default_rng(seed).permutation(100)
        drawn = Mallows(phi, center=center).sample(1000, rng=seed)
        clients = drawn.split(50, rng=seed)
        for low_bits in excess:
            options = {"low_bits": low_bits} if low_bits else {}
            found = federate(clients, "lehmer", secure=False, rng=seed, **options)
            excess[low_bits] += kemeny_score(found, drawn) - kemeny_score(center, drawn)
    assert excess[0] <= 0.6 * excess[10]


def test_lehmer_sends_a_small_part_of_the_full_histogram():
    bits = {
        (n, clients): [Lehmer(n, clients, low_bits=i).message_bits for i in (0, 10)]
        for n, clients in ((100, 50), (978, 10))
    }
    assert bits == {(100, 50): [1128, 29_700], (978, 10): [12_046, 1_911_012]}
    assert bits[978, 10][0] == sum(reference.lehmer_widths(978, 10, 0))
    assert bits[100, 50][1] == sum(reference.lehmer_widths(100, 50, 10))
    assert bits[978, 10][0] < Borda(978, 10).message_bits


def test_labels_of_the_frontier_cover_neither_each_other_nor_a_point():
    figure = next(each for each in pareto.FIGURES if each.name == "pareto")
    rng = generator()
    rows = [
        {"data": data, "n": 100, "clients": 10, "method": method, "setting": f"w {2**i}"}
        | {"bits": bits, "mean": 10 + 1000 / bits + rng.random() / 50, "rounds": 1.0 + i}
        for data in ("jester", "luad")
        for method in ("Refine", "Refine, rounds", "Refine, auto")
        for i, bits in enumerate(np.geomspace(1000, 9000, 8) * rng.uniform(0.9, 1.1, 8))
    ]
    drawn = figure.draw(rows)
    drawn.draw_without_rendering()
    for axes in drawn.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert len(boxes) > 3
        points = np.vstack([axes.transData.transform(line.get_xydata()) for line in axes.lines])
        for box in boxes:
            assert not any(box.overlaps(other) for other in boxes if other is not box)
            assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1
            assert not any(box.contains(*point) for point in points)
