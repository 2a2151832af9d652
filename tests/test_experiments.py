"""The figures' tables against the definitions, curve by curve; pictures; going on after a stop."""

import csv
import math
import random

import numpy as np
import pytest

import fedrank as fr
import reference
from fedrank.experiments import FIGURES, Options, find, real, reproduce, synthetic, table
from fedrank.simulation import simulate
from realdata import DATA

REPETITIONS = 100


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


def points_of(figure, phi, steps, repetitions=REPETITIONS):
    options = Options(seed=5, repetitions=repetitions)
    for step in steps:
        rows = figure.point(phi, step, options)
        yield {(row["method"], row["where"]): (row["mean"], row["standard_error"]) for row in rows}


def check_panel(n, center, sweep, phi, steps, rules, repetitions=REPETITIONS):
    figure = FIGURES[f"synthetic-n{n}-{center}-{sweep}"]
    ours = [
        {rule: point[rule] for rule in rules}
        for point in points_of(figure, phi, steps, repetitions)
    ]
    source = random.Random(f"{n} {center} {sweep} {phi}")
    theirs = []
    for step in steps:
        sizes = {"clients": 10, "samples": 10, sweep: step}
        theirs.append(
            reference_point(
                n, phi, center, repetitions=repetitions, rules=rules, source=source, **sizes
            )
        )
    assert_curves_agree(ours, theirs, repetitions)


FAST = [rule for rule in RULES if rule[0] != "Kemeny"]


@pytest.mark.parametrize("sweep", synthetic.SWEEPS)
@pytest.mark.parametrize("center", synthetic.CENTERS)
def test_curves_of_ten_items_agree_with_the_definitions(center, sweep):
    check_panel(10, center, sweep, 0.5, (1, 2, 5), FAST)


def test_curves_of_twenty_items_agree_with_the_definitions():
    check_panel(20, "authors", "samples", 0.4, (2,), FAST, repetitions=40)


def test_kemeny_curve_agrees_with_the_definition():
    check_panel(10, "random", "samples", 0.6, (1, 2), [("Kemeny", "centralized")])


@pytest.mark.slow
@pytest.mark.parametrize("phi", synthetic.PHIS)
@pytest.mark.parametrize("sweep", synthetic.SWEEPS)
@pytest.mark.parametrize("center", synthetic.CENTERS)
@pytest.mark.parametrize("n", synthetic.SIZES)
def test_every_panel_agrees_with_the_definitions(n, center, sweep, phi):
    check_panel(n, center, sweep, phi, (1, 2, 5, 12), FAST)


def test_bins_are_the_midpoints_of_expected_positions_and_sampling_agrees(tmp_path):
    (made,) = reproduce(["bins"], tmp_path, formats=())
    rows = table.load(made.table)
    assert len(rows) == 50
    for row in rows:
        expected = reference.expected_positions_by_formula(row["phi"], 10)
        place = row["place"]
        assert row["expected"] == pytest.approx(float(expected[place]), abs=1e-12)
        right = 9 if place == 9 else float(expected[place] + expected[place + 1]) / 2
        assert row["right"] == pytest.approx(right, abs=1e-12)
        assert abs(row["mean"] - row["expected"]) < 5 * row["standard_error"]
        assert row["repetitions"] == 100_000


def test_tables_are_tidy(tmp_path):
    name = "synthetic-n10-authors-clients"
    (made,) = reproduce([name], tmp_path, Options(seed=3, repetitions=2), formats=())
    with made.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 50 * 6  # dispersions, points, rules
    assert {row["version"] for row in rows} == {fr.__version__}
    assert {row["seed"] for row in rows} == {"3"}
    assert {row["repetitions"] for row in rows} == {"2"}
    assert {int(row["clients"]) for row in rows} == set(range(1, 51))
    assert {row["samples"] for row in rows} == {"10"}
    assert all(float(row["standard_error"]) >= 0 for row in rows)


def test_points_are_drawn_apart():
    figure = FIGURES["synthetic-n10-random-samples"]
    options = Options(seed=1)
    drawn = {
        tuple(figure.rng(options, phi, step).bytes(8)) for phi in (0.1, 0.2) for step in (1, 2)
    }
    other = tuple(FIGURES["synthetic-n20-random-samples"].rng(options, 0.1, 1).bytes(8))
    assert len(drawn | {other}) == 5


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    name = "synthetic-n10-identity-samples"
    options = Options(repetitions=2)
    figure = FIGURES[name]
    run = synthetic.Synthetic.run
    calls = []

    def stopping(self, part, options):
        calls.append(part["phi"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(self, part, options)

    monkeypatch.setattr(synthetic.Synthetic, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        reproduce([name], tmp_path, options, formats=())
    assert {row["phi"] for row in table.load(tmp_path / f"{name}.csv")} == {0.1, 0.2}
    reproduce([name], tmp_path, options, formats=())
    assert calls == [0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6]
    reproduce([name], tmp_path, options, formats=())
    assert len(calls) == 7
    monkeypatch.undo()
    whole = [row for part in figure.parts(options) for row in figure.run(part, options)]
    assert table.load(tmp_path / f"{name}.csv") == whole
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.csv"]


def test_other_repetitions_or_seed_are_computed_anew(tmp_path):
    first = Options(repetitions=10)
    reproduce(["bins"], tmp_path, first, formats=())
    reproduce(["bins"], tmp_path, Options(repetitions=20), formats=())
    assert {row["repetitions"] for row in table.load(tmp_path / "bins.csv")} == {20}


def test_a_damaged_table_is_made_again(tmp_path):
    (tmp_path / "bins.csv").write_text("figure,n\nbins\n")
    (made,) = reproduce(["bins"], tmp_path, Options(repetitions=10), formats=())
    assert len(table.load(made.table)) == 50


def test_pictures_exist_and_have_labelled_axes(tmp_path):
    name = "synthetic-n10-random-clients"
    (made,) = reproduce([name], tmp_path, Options(repetitions=2))
    png, svg = made.pictures
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert svg.read_text().lstrip().startswith("<?xml")
    figure = FIGURES[name].draw(table.load(made.table))
    assert len(figure.axes) == 6
    assert all(axes.get_xlabel() == "clients" for axes in figure.axes)
    assert figure.axes[0].get_ylabel() == "mean Kendall distance to the center"
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"Borda", "Lehmer", "Lehmer, nearest", "Kemeny", "federated", "centralized"} == set(
        shown
    )


def test_unknown_figures_are_refused_with_those_that_are():
    with pytest.raises(ValueError, match="there is no figure 'fig3'; there are all, synthetic"):
        find(["fig3"])


def test_no_repetitions_are_refused(tmp_path):
    with pytest.raises(ValueError, match="repetitions must be at least 1, not 0"):
        reproduce(["bins"], tmp_path, Options(repetitions=0))


def test_data_that_are_missing_are_an_error_alone_and_passed_over_in_a_group(tmp_path):
    options = Options(repetitions=1, data=tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="fedrank data fetch sushi"):
        reproduce(["sushi"], tmp_path, options)
    made = reproduce(["real"], tmp_path, options)
    assert [each.table for each in made] == [None] * 5
    assert all(f"fedrank data fetch {each.name}" in each.problem for each in made)


def made_up_sushi(folder, people=300, seed=1):
    """Files in the layout of the sushi data, about a known center."""
    source = np.random.default_rng(seed)
    orders = fr.Mallows(0.7, n=10).sample(people, rng=source).orders()
    regions = np.arange(people) % 11
    lines = ["10 1", *("0 10 " + " ".join(map(str, order)) for order in orders)]
    (folder / "sushi").mkdir()
    (folder / "sushi" / "sushi3a.5000.10.order").write_text("\n".join(lines) + "\n")
    people = (
        "\t".join([str(i), "0", "1", "100", "0", "0", "0", "0", str(region), "0", "1"])
        for i, region in enumerate(regions)
    )
    (folder / "sushi" / "sushi3.udata").write_text("\n".join(people) + "\n")
    return orders, regions


def test_sushi_panel_is_made_of_files_of_its_layout(tmp_path):
    orders, regions = made_up_sushi(tmp_path)
    options = Options(repetitions=1, data=tmp_path)
    (made,) = reproduce(["sushi"], tmp_path / "out", options)
    rows = table.load(made.table)
    assert len(rows) == 200 * len(real.RULES)
    assert {row["total"] for row in rows} == {int((regions < 10).sum())}
    last = {(r["method"], r["where"]): r["mean"] for r in rows if r["step"] == 200}
    kept = [reference.inverse(o.tolist()) for o, r in zip(orders, regions, strict=True) if r < 10]
    borda = reference.central_borda([kept], random.Random(0))
    score = sum(reference.kendall(borda, r) for r in kept) / (len(kept) * 10)
    assert last["Borda", "centralized"] == pytest.approx(score, abs=1e-3)
    assert last["Kemeny", "centralized"] <= min(last.values())
    assert all(path.stat().st_size for path in made.pictures)


def test_subsets_grow_in_file_order(tmp_path):
    orders, regions = made_up_sushi(tmp_path)
    figure, options = FIGURES["sushi"], Options(data=tmp_path)
    small, large = (figure.subsets(step, 0, options) for step in (1, 200))
    assert [len(part) for part in small] == [1] * 10
    assert [len(part) for part in large] == [int((regions == r).sum()) for r in range(10)]
    for region, part in enumerate(small):
        assert part.orders()[0].tolist() == orders[region].tolist()


@pytest.mark.skipif(not (DATA / "tcga").is_dir(), reason="the real data are not at hand")
def test_lusc_panel_is_made_of_the_real_file(tmp_path):
    (made,) = reproduce(["lusc"], tmp_path, Options(repetitions=1, data=DATA), formats=())
    rows = table.load(made.table)
    assert {(row["n"], row["total"], row["clients"]) for row in rows} == {(926, 35, 10)}


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "jester").is_dir(), reason="the real data are not at hand")
def test_jester_panel_ends_at_the_known_figures(tmp_path):
    (made,) = reproduce(["jester"], tmp_path, Options(repetitions=5, data=DATA), formats=())
    rows = table.load(made.table)
    last = {(r["method"], r["where"]): r["mean"] for r in rows if r["samples"] == 282}
    assert last["Borda", "centralized"] == pytest.approx(19.228750, abs=1e-6)
    assert last["Borda", "federated"] == pytest.approx(19.23, abs=0.01)
    assert last["Footrule", "centralized"] == pytest.approx(19.27, abs=0.01)
    assert 19.9 < last["Lehmer", "federated"] < 20.3
    assert last["Lehmer, nearest", "federated"] == pytest.approx(19.37, abs=0.03)


@pytest.mark.parametrize(
    ("low_bits", "expected"), [("full", 1.68), (4, 1.60), (2, 1.88), (0, 0.68), ("borda", 0.04)]
)
def test_simulated_errors_are_those_of_the_method(low_bits, expected):
    # n = 20, phi = 0.5, 10 clients of 20 samples: M8's table, which is of few repetitions
    # about one center; means about different centers differ by a tenth, and more at I = 2.
    if low_bits == "borda":
        rule = fr.Borda(20, 10, 0.6)
    else:
        rule = fr.Lehmer(20, 10, 0.5, low_bits=5 if low_bits == "full" else low_bits)
    found = simulate([rule], 0.5, n=20, clients=10, samples=20, repetitions=2000, rng=1)
    error = found.std() / math.sqrt(len(found))
    assert found.mean() == pytest.approx(expected, abs=5 * error + 0.15 * expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 5, "center": [0, 1]}, "exactly one of n and center"),
        ({"n": None}, "exactly one of n and center"),
        ({"rules": ["pivot"]}, "'pivot' is not a rule"),
        ({"rules": []}, "at least one rule"),
        ({"clients": 0}, "clients must be"),
        ({"samples": 0}, "samples must be"),
        ({"repetitions": 0}, "repetitions must be"),
        ({"phi": 1.5}, "phi must be"),
        ({"rules": [fr.Borda(4, 2)]}, "items"),
        ({"rules": [fr.Borda(5, 1)]}, "clients"),
        ({"n": None, "center": [[0, 1], [1, 0]]}, "center must be one ranking"),
    ],
)
def test_bad_settings_are_refused(change, message):
    given = {"rules": ["borda"], "phi": 0.5, "n": 5, "clients": 2, "samples": 3, "repetitions": 4}
    with pytest.raises(ValueError, match=message):
        simulate(**(given | change))


def test_rules_keep_their_columns_and_one_seed_gives_one_result():
    rules = ["kemeny", fr.Borda(6, 3), "borda", fr.Lehmer(6, 3)]
    given = {"n": 6, "clients": 3, "samples": 5, "repetitions": 400}
    first = simulate(rules, 0.9, rng=4, **given)
    assert (first == simulate(rules, 0.9, rng=4, **given)).all()
    turned = simulate(rules[::-1], 0.9, rng=4, **given)[:, ::-1]
    assert abs(first.mean(axis=0) - turned.mean(axis=0)).max() < 1
    assert first[:, 3].mean() > first[:, 0].mean()  # Lehmer's digits are worse than Kemeny


def test_without_dispersion_nothing_is_wrong():
    rules = [fr.Borda(7, 2, phi=0), fr.Lehmer(7, 2), "borda", "lehmer", "kemeny"]
    assert not simulate(rules, 0, n=7, clients=2, samples=2, repetitions=20, rng=0).any()
