"""Real data, where it is: where FEDRANK_DATA points, or beside the project, in ../shared/data."""

import csv
import gzip

import numpy as np
import pytest

from fedrank import (
    Mallows,
    PartialRankings,
    Rankings,
    aggregate,
    data,
    kemeny_score,
    kendall_distance,
    pairwise_counts,
)
from helpers import realdata, reference
from helpers.realdata import DATA

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="../shared/data is absent, and FEDRANK_DATA points nowhere"
)

METHODS = ["borda", "lehmer", "footrule", "pivot", "pick", "kemeny"]


# --- PrefLib ---


def read_soc(path):
    """Rankings and their counts, of today's layout or the one before 2022."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[0].startswith("#"):
        body = [line.split(":") for line in lines if not line.startswith("#")]
        votes = [(int(count), order) for count, order in body]
    else:
        body = [line.split(",", 1) for line in lines[int(lines[0]) + 2 :]]
        votes = [(int(count), order) for count, order in body]
    orders = [[int(item) - 1 for item in order.split(",")] for _, order in votes]
    return Rankings.from_orders(orders), [count for count, _ in votes]


@pytest.fixture(
    params=["00004-00000158.soc", "00012-00000001.soc", "old_format_00012-00000001.soc"]
)
def preflib(request):
    path = DATA / "preflib" / request.param
    if not path.exists():
        pytest.skip(f"{path.name} is absent")
    return read_soc(path)


def test_preflib_borda_equals_the_reference(preflib):
    votes, counts = preflib
    repeated = reference.repeat(votes.ranks.tolist(), counts)
    found = aggregate(votes, ties="index", weights=counts)
    assert tuple(found.ranks.tolist()) == reference.borda(repeated)
    assert pairwise_counts(votes, weights=counts).tolist() == reference.pairwise(repeated)


def best_total(votes):
    """Least total Kendall distance, by going through all subsets: the last item of each."""
    beats = reference.pairwise(votes)
    n = len(beats)
    least = [0] * (1 << n)
    for chosen in range(1, 1 << n):
        items = [i for i in range(n) if chosen >> i & 1]
        # If i comes last of these, whoever put it before one of the others disagrees.
        least[chosen] = min(
            least[chosen & ~(1 << i)] + sum(beats[i][j] for j in items if j != i) for i in items
        )
    return least[-1]


def test_preflib_kemeny_is_optimal(preflib):
    votes, counts = preflib
    repeated = reference.repeat(votes.ranks.tolist(), counts)
    found = aggregate(votes, "kemeny", rng=1, weights=counts)
    assert found.exact is True
    assert found.objective == best_total(repeated) / (len(repeated) * votes.n)
    if votes.n <= 7:
        assert tuple(found.ranks.tolist()) in reference.kemeny(repeated)[1]


def test_preflib_rankings_of_count_0_change_nothing():
    votes, counts = read_soc(DATA / "preflib" / "00004-00000158.soc")
    assert (len(votes), sum(counts), counts.count(0)) == (24, 355, 2)
    kept = [count > 0 for count in counts]
    for method in METHODS:
        found = aggregate(votes, method, ties="index", rng=1, weights=counts)
        without = aggregate(
            votes[kept], method, ties="index", rng=1, weights=[c for c in counts if c]
        )
        assert found.ranks.tolist() == without.ranks.tolist()


def test_preflib_layouts_hold_the_same_votes():
    today, counts = read_soc(DATA / "preflib" / "00012-00000001.soc")
    before, counts_before = read_soc(DATA / "preflib" / "old_format_00012-00000001.soc")
    assert sum(counts) == sum(counts_before) == 30
    assert (pairwise_counts(today, counts) == pairwise_counts(before, counts_before)).all()


def test_preflib_partial_votes_keep_their_gaps():
    votes = data.read_preflib(DATA / "preflib" / "00002-00000006.soi", complete=False)
    assert votes.ranks.shape == (436, 5)
    assert (votes.ranks == -1).any()
    found = aggregate(votes)
    assert kemeny_score(found, votes) == pytest.approx(0.449541, abs=5e-7)
    # PrefLib itself ties what is not ranked last.
    tied = data.read_preflib(DATA / "preflib" / "00002-00000006.toc", complete=False)
    assert (tied.ranks != -1).all()
    assert aggregate(tied).scores.tolist() == found.scores.tolist()
    assert (pairwise_counts(tied) == pairwise_counts(votes)).all()


# --- Jester ---


@pytest.fixture(scope="module")
def ratings():
    """Complete raters of files 1 and 2."""
    scores = [realdata.jester_ratings(part) for part in (1, 2)]
    assert [each.shape for each in scores] == [(7200, 100), (6916, 100)]
    return np.vstack(scores)


@pytest.fixture(scope="module")
def jester():
    return realdata.jester()


def test_jester_borda_objective(jester):
    assert len(jester) == 14_116
    found = aggregate(jester, rng=0)
    assert kemeny_score(found, jester) == pytest.approx(19.228750, abs=5e-7)


def test_jester_objectives_with_ties_kept(ratings):
    votes = PartialRankings.from_scores(ratings)
    assert kemeny_score(aggregate(votes), votes) == pytest.approx(19.214076, abs=5e-7)
    best = aggregate(votes, "kemeny", rng=0)
    assert best.objective == pytest.approx(19.208842, abs=5e-7)
    assert kemeny_score(best, votes) == pytest.approx(19.208842, abs=5e-7)


def test_jester_kemeny_is_near_its_bound(jester):
    found = aggregate(jester, "kemeny", rng=0)
    assert 19.2183 - 5e-5 <= found.objective <= 19.2202
    assert found.lower_bound <= found.objective
    assert found.objective == kemeny_score(found, jester)


def test_jester_phi_is_near_1(jester):
    assert Mallows.fit(jester, rng=0).phi == pytest.approx(0.980, abs=5e-4)


def test_jester_distances_are_those_of_the_definition(jester):
    some = jester[::2000]
    expected = [[reference.kendall(a, b) for b in some.ranks] for a in some.ranks]
    assert kendall_distance(some, some).tolist() == expected


# --- TCGA ---


@pytest.fixture(scope="module")
def luad():
    path = DATA / "tcga" / "LUAD_fpkm_landmark978.tsv.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is absent")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    scores = np.array([row[1:] for row in rows], dtype=float)
    assert scores.shape == (533, 978)
    return Rankings.from_scores(scores, items=header[1:], ties="index")


def test_luad_borda_objective(luad):
    found = aggregate(luad, rng=0)
    assert kemeny_score(found, luad) == pytest.approx(69.1667, abs=5e-5)
    assert set(found.labels) == set(luad.items)


def test_luad_kemeny_improves_on_borda(luad):
    found = aggregate(luad, "kemeny", rng=0, kicks=5)
    assert 68.6703 - 5e-5 <= found.objective <= 68.70
    assert found.lower_bound <= found.objective
    assert found.objective == kemeny_score(found, luad)


def test_luad_phi_is_near_1(luad):
    assert Mallows.fit(luad, rng=0).phi == pytest.approx(0.988, abs=5e-4)


# --- Maine ---


def test_maine_ballots_are_completed():
    path = DATA / "maine" / "Maine_06122018_DemocraticPrimaryforGovernor.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is absent")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].split() == ["8", "1"]
    body = [list(map(int, line.split())) for line in lines[1 : lines.index("0")]]
    counts = [count for count, *_ in body]
    ballots = [choices[:-1] for _, *choices in body]
    assert (sum(counts), len(ballots)) == (126_247, 10_113)
    votes = Rankings.from_ballots(ballots, items=range(1, 9), rng=1)
    for ballot, order in zip(ballots, votes.orders().tolist(), strict=True):
        assert [item + 1 for item in order[: len(ballot)]] == ballot
    found = aggregate(votes, "kemeny", rng=1, weights=counts)
    assert found.exact is True
    assert found.top(1) == (2,)  # Janet Mills, who won
