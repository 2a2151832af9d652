"""The tables of the synthetic figures against the definitions, curve by curve."""

import csv
import math
import random

import numpy as np
import pytest

from fedrank.experiments import Options, reproduce, synthetic
from helpers import reference


def center_in_words(name, n, source):
    if name == "random":
        return tuple(source.sample(range(n), n))
    if name == "identity":
        return tuple(range(n))
    printed = {
        10: "1 2 4 3 5 7 6 8 9 10",
        20: "1 2 4 3 5 7 6 8 9 10 11 12 13 14 16 15 17 18 20 19",
    }
    return tuple(int(word) - 1 for word in printed[n].split())


RULES = {
    ("Borda", "federated"): reference.federated_borda,
    ("Lehmer", "federated"): lambda parts, phi, source: reference.federated_lehmer(
        parts,
        reference.paper_low_bits(phi, len(parts[0][0]), sum(map(len, parts))),
        "paper",
        source,
    ),
    ("Lehmer, nearest", "federated"): lambda parts, _, source: reference.federated_lehmer(
        parts, 0, "nearest", source
    ),
    ("Borda", "centralized"): lambda parts, _, source: reference.central_borda(parts, source),
    ("Lehmer", "centralized"): lambda parts, _, source: reference.central_lehmer(parts, source),
    ("Kemeny", "centralized"): lambda parts, _, source: reference.central_kemeny(parts, source),
}


def reference_point(n, phi, center, clients, samples, repetitions, rules, source):
    """Mean and standard error of each rule's distance, drawn and computed slowly."""
    distances = {rule: [] for rule in rules}
    for _ in range(repetitions):
        truth = center_in_words(center, n, source)
        parts = [
            [reference.sample(phi, truth, source) for _ in range(samples)] for _ in range(clients)
        ]
        for rule in rules:
            found = RULES[rule](parts, phi, source)
            distances[rule].append(reference.kendall(found, truth))
    return {
        rule: (np.mean(found), np.std(found, ddof=1) / math.sqrt(repetitions))
        for rule, found in distances.items()
    }


def assert_curves_agree(ours, theirs, repetitions):
    """The z of the mean difference over a curve's points is below 5."""
    for rule in theirs[0]:
        pairs = [(mine[rule], other[rule]) for mine, other in zip(ours, theirs, strict=True)]
        gap = np.mean([mine[0] - other[0] for mine, other in pairs])
        error = math.sqrt(sum(mine[1] ** 2 + other[1] ** 2 for mine, other in pairs)) / len(pairs)
        if error == 0:
            assert abs(gap) <= 3 / repetitions, rule
        else:
            assert abs(gap / error) < 5, (rule, gap, error)


def points_of(name, sweep, phis, steps, repetitions, folder, monkeypatch):
    """Means and errors in the CSV that is written, by dispersion and step, then by rule."""
    monkeypatch.setattr(synthetic, "PHIS", phis)
    monkeypatch.setattr(synthetic, "STEPS", steps)
    options = Options(seed=5, repetitions=repetitions)
    (made,) = reproduce([name], folder, options, formats=())
    points = {(phi, step): {} for phi in phis for step in steps}
    with made.table.open(newline="") as file:
        for row in csv.DictReader(file):
            point = points[float(row["phi"]), int(row[sweep])]
            values = float(row["mean"]), float(row["standard_error"])
            assert point.setdefault((row["method"], row["where"]), values) is values  # once
    assert all(point.keys() == RULES.keys() for point in points.values())
    return points


@pytest.fixture
def check_panel(tmp_path, monkeypatch):
    """Compare the curves of a panel's CSV, one a dispersion and a rule, with the definitions."""

    def check(n, center, sweep, phis, steps, rules, repetitions):
        name = f"synthetic-n{n}-{center}-{sweep}"
        points = points_of(name, sweep, phis, steps, repetitions, tmp_path, monkeypatch)
        for phi in phis:
            source = random.Random(f"{n} {center} {sweep} {phi}")
            theirs = []
            for step in steps:
                sizes = {"clients": 10, "samples": 10, sweep: step}
                given = {"repetitions": repetitions, "rules": rules, "source": source}
                theirs.append(reference_point(n, phi, center, **sizes, **given))
            assert_curves_agree([points[phi, step] for step in steps], theirs, repetitions)

    return check


FAST = [rule for rule in RULES if rule[0] != "Kemeny"]
KEMENY = [rule for rule in RULES if rule[0] == "Kemeny"]


@pytest.mark.parametrize(
    ("center", "sweep", "phis"),
    [
        (center, sweep, ((0.1, 0.3, 0.5), (0.2, 0.4, 0.6))[(i + j) % 2])
        for i, center in enumerate(synthetic.CENTERS)
        for j, sweep in enumerate(synthetic.SWEEPS)
    ],
)
def test_curves_of_ten_items_agree_with_the_definitions(check_panel, center, sweep, phis):
    check_panel(10, center, sweep, phis, (1, 4), FAST, 40)


def test_curves_of_twenty_items_agree_with_the_definitions(check_panel):
    check_panel(20, "authors", "samples", (0.4,), (1, 3), FAST, 20)


def test_kemeny_curves_agree_with_the_definition(check_panel):
    check_panel(10, "random", "samples", (0.3, 0.6), (1, 2), KEMENY, 40)


@pytest.mark.slow
@pytest.mark.parametrize("sweep", synthetic.SWEEPS)
@pytest.mark.parametrize("center", synthetic.CENTERS)
@pytest.mark.parametrize("n", synthetic.SIZES)
def test_every_panel_agrees_with_the_definitions(check_panel, n, center, sweep):
    rules = FAST + KEMENY if n == 10 else FAST
    check_panel(n, center, sweep, synthetic.PHIS, (1, 2, 5, 12), rules, 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("center", "sweep", "phi"), [("authors", "samples", 0.5), ("random", "clients", 0.6)]
)
def test_all_points_of_a_curve_agree_with_the_definitions(check_panel, center, sweep, phi):
    check_panel(10, center, sweep, (phi,), tuple(synthetic.STEPS), FAST + KEMENY, 30)
