"""``fedrank federate`` on rankings with ties and gaps."""

import json
from itertools import permutations

import pytest

from helpers import reference
from helpers.command import (
    ranks_of,
    refused,
    run,
)
from helpers.paths import SAMPLES

LABELS = ("Ann", "Bob", "Cy", "Dée")


def federate(*arguments):
    done = run("federate", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("method", ["borda", "kemeny"])
def test_ties_that_are_kept_make_nothing_random_of_the_sums(method):
    how = ["--send", "sums"] if method == "borda" else ["--window", "3"]
    found = federate(SAMPLES / "small.toi", "--clients", "3", "--method", method, *how)
    # Three of 4,{1,2},3, two of 3, and one of {2,3},1.
    ballots = [(1, 1, 2, 0)] * 3 + [(-1, -1, 0, -1)] * 2 + [(1, 0, 0, -1)]
    distances = {
        r: sum(reference.half_distance(r, ballot) for ballot in ballots)
        for r in permutations(range(4))
    }
    distance = distances[ranks_of(found, LABELS)]
    assert found["kemeny_score"] == pytest.approx(float(distance / 24), abs=1e-12)
    if method == "kemeny":
        assert distance == min(distances.values())
    else:
        scores = {row["item"]: row["score"] for row in found["consensus"]}
        places = zip(*map(reference.mid_ranks, ballots), strict=True)
        means = [float(sum(of) / 6) for of in places]
        assert [scores[label] for label in LABELS] == pytest.approx(means, abs=1e-12)


def test_ties_of_precincts_are_kept():
    arguments = (SAMPLES / "cvr.csv", "--by", "Precinct", "--min-survivors", "1", "--send", "sums")
    found = federate(*arguments)
    # Ann, Bob; Cy, Ann; Bob; Cy.
    ballots = [(0, 1, -1), (1, -1, 0), (-1, 0, -1), (-1, -1, 0)]
    scores = {row["item"]: row["score"] for row in found["consensus"]}
    places = zip(*map(reference.mid_ranks, ballots), strict=True)
    means = [float(sum(of) / 4) for of in places]
    assert [scores[label] for label in ("Ann", "Bob", "Cy")] == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--method", "lehmer"], "the method lehmer needs complete rankings, but these have ties"),
        (
            ["--fit-phi"],
            "these have ties or gaps; pass --complete\n",
        ),
    ],
)
def test_ties_and_gaps_that_cannot_be_kept_need_to_be_completed(arguments, named):
    split = (SAMPLES / "small.toi", "--clients", "3", *arguments)
    told = refused(run("federate", *split))
    assert named in told
    assert "pass --complete" in told
    found = federate(*split, "--complete")
    assert found["source"].endswith("ties and gaps of 6 rankings completed at random)")


def test_a_client_may_have_ties_where_others_have_none(tmp_path):
    votes = {"a": "0,1,2\n0,2,1\n", "b": "0,0,2\n0,1,2\n", "c": "2,1,0\n2,1,0\n"}
    for name, rows in votes.items():
        (tmp_path / f"{name}.csv").write_text("x,y,z\n" + rows)
    ranks = "--layout", "ranks", "--items-in", "columns"
    found = federate(*sorted(tmp_path.glob("*.csv")), *ranks, "--send", "sums")
    ballots = [(0, 1, 2), (0, 2, 1), (0, 0, 1), (0, 1, 2), (2, 1, 0), (2, 1, 0)]
    scores = {row["item"]: row["score"] for row in found["consensus"]}
    means = [float(sum(of) / 6) for of in zip(*map(reference.mid_ranks, ballots), strict=True)]
    assert [scores[label] for label in "xyz"] == pytest.approx(means, abs=1e-12)
