"""The figures' tables against the definitions, curve by curve; pictures; going on after a stop."""

import csv
import itertools
import math
import random
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedrank as fr
import reference
from fedrank._progress import Progress
from fedrank.experiments import FIGURES, Options, find, pictures, real, reproduce, synthetic, table
from fedrank.planning.simulate import simulate
from realdata import DATA


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
    check_panel(10, "random", "samples", (0.3, 0.6), (1, 2), KEMENY, 60)


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

    def stopping(self, part, options, advance):
        calls.append(part["phi"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(self, part, options, advance)

    monkeypatch.setattr(synthetic.Synthetic, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        reproduce([name], tmp_path, options, formats=())
    assert {row["phi"] for row in table.load(tmp_path / f"{name}.csv")} == {0.1, 0.2}
    reproduce([name], tmp_path, options, formats=())
    assert calls == [0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6]
    reproduce([name], tmp_path, options, formats=())
    assert len(calls) == 7
    monkeypatch.undo()
    whole = [row for part in figure.parts(options) for row in figure.run(part, options, list)]
    assert table.load(tmp_path / f"{name}.csv") == whole
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.csv"]


def test_other_repetitions_or_seed_are_computed_anew(tmp_path):
    first = Options(repetitions=10)
    reproduce(["bins"], tmp_path, first, formats=())
    reproduce(["bins"], tmp_path, Options(repetitions=20), formats=())
    assert {row["repetitions"] for row in table.load(tmp_path / "bins.csv")} == {20}
    before = table.load(tmp_path / "bins.csv")
    reproduce(["bins"], tmp_path, Options(repetitions=20, seed=1), formats=())
    after = table.load(tmp_path / "bins.csv")
    assert {row["seed"] for row in before} == {0}
    assert {row["seed"] for row in after} == {1}
    assert [row["expected"] for row in before] == [row["expected"] for row in after]
    assert [row["mean"] for row in before] != [row["mean"] for row in after]


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


def test_pictures_are_never_of_an_earlier_table(tmp_path, monkeypatch):
    drawn = []

    def draw(_, rows):
        drawn.append({(row["seed"], row["repetitions"]) for row in rows})
        return Figure()

    monkeypatch.setattr(type(FIGURES["bins"]), "draw", draw)
    reproduce(["bins"], tmp_path, Options(seed=0, repetitions=2))
    reproduce(["bins"], tmp_path, Options(seed=1, repetitions=2), formats=())
    assert [path.name for path in tmp_path.iterdir()] == ["bins.csv"]
    (made,) = reproduce(["bins"], tmp_path, Options(seed=1, repetitions=2))
    assert all(path.exists() for path in made.pictures)
    reproduce(["bins"], tmp_path, Options(seed=1, repetitions=2))
    assert drawn == [{(0, 2)}, {(1, 2)}]  # not a third time: nothing changed

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(FIGURES["bins"]), "draw", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["bins"], tmp_path, Options(seed=2, repetitions=2))
    monkeypatch.setattr(type(FIGURES["bins"]), "draw", draw)
    reproduce(["bins"], tmp_path, Options(seed=2, repetitions=2))
    assert drawn[2:] == [{(2, 2)}]


def test_bands_are_whole_when_curves_are_looked_at_closely():
    rows = [
        {"x": x, "method": "Borda", "where": "federated", "mean": mean, "standard_error": error}
        for x, mean, error in [(1, 5.0, 2.0), (2, 4.0, 0.1), (3, 3.5, 1.5)]
    ]
    (axes,) = pictures.panels({"a": rows}, None, "x", "x", "y", close=True).axes
    low, high = axes.get_ylim()
    assert low < 2.0
    assert high > 7.0
    band = axes.collections[0].get_paths()[0].get_extents()
    assert low < band.ymin < band.ymax < high


def test_unknown_figures_are_refused_with_those_that_are():
    with pytest.raises(ValueError, match="there is no figure 'fig3'; there are all, synthetic"):
        find(["fig3"])


def test_no_repetitions_are_refused(tmp_path):
    with pytest.raises(ValueError, match="repetitions must be at least 1, not 0"):
        reproduce(["bins"], tmp_path, Options(repetitions=0))


def test_data_that_are_missing_are_an_error_alone_and_passed_over_in_a_group(tmp_path):
    folder = tmp_path / "no data"
    folder.mkdir()
    options = Options(repetitions=1, data=folder)
    with pytest.raises(
        FileNotFoundError, match=f"'fedrank data fetch sushi', into the data folder {folder}"
    ):
        reproduce(["sushi"], tmp_path, options)
    made = reproduce(["real"], tmp_path, options)
    assert [each.table for each in made] == [None] * 5
    assert all(f"fedrank data fetch {each.name}', into" in each.problem for each in made)


def test_the_usual_data_folder_is_not_named_to_fetch_into(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDRANK_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"get it with 'fedrank data fetch sushi'$"):
        reproduce(["sushi"], tmp_path, Options(repetitions=1))


def test_a_data_folder_that_is_not_there_is_refused(tmp_path):
    options = Options(repetitions=1, data=tmp_path / "typo")
    for names in (["real"], ["sushi"], ["all"]):
        with pytest.raises(ValueError, match=r"there is no data folder .*typo"):
            reproduce(names, tmp_path / "out", options)
    assert not list(tmp_path.iterdir())


def made_up_sushi(folder, people=300, seed=1, n=10, clients=11, phi=0.7):
    """Files in the layout of the sushi data, about a known center; client 10 is none."""
    source = np.random.default_rng(seed)
    orders = fr.Mallows(phi, n=n).sample(people, rng=source).orders()
    regions = np.arange(people) % clients
    lines = [f"{n} 1", *(f"0 {n} " + " ".join(map(str, order)) for order in orders)]
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


DRAWN = {  # rules that break ties evenly: their scores are compared in the mean
    ("Borda", "federated"): lambda parts, source: reference.federated_borda(parts, 0.6, source),
    ("Lehmer", "federated"): lambda parts, source: reference.federated_lehmer(
        parts,
        reference.paper_low_bits(0.6, len(parts[0][0]), len(parts) * max(map(len, parts))),
        "paper",
        source,
    ),
    ("Lehmer, nearest", "federated"): lambda parts, source: reference.federated_lehmer(
        parts, 0, "nearest", source
    ),
    ("Borda", "centralized"): reference.central_borda,
    ("Lehmer", "centralized"): reference.central_lehmer,
}


def footrules_of_footrules(parts):
    """All rankings that the footrule consensus of some clients' consensuses may be."""
    local = [reference.footrule_consensus(part)[1] for part in parts]
    return set().union(
        *(reference.footrule_consensus(sent)[1] for sent in itertools.product(*local))
    )


LISTED = {  # rules that have several right answers at times: the score is between theirs
    ("Footrule", "federated"): footrules_of_footrules,
    ("Kemeny", "federated"): lambda parts: reference.kemeny(reference.together(parts))[1],
    ("Footrule", "centralized"): lambda parts: reference.footrule_consensus(
        reference.together(parts)
    )[1],
    ("Kemeny", "centralized"): lambda parts: reference.kemeny(reference.together(parts))[1],
}


def test_rules_on_real_panels_agree_with_the_definitions(tmp_path, monkeypatch):
    clients, steps, repetitions = 3, 3, 60
    # So that no rule has the score of another at all steps.
    given = {"people": 42, "seed": 29, "n": 5, "clients": clients, "phi": 0.9}
    orders, regions = made_up_sushi(tmp_path, **given)
    monkeypatch.setattr(FIGURES["sushi"], "steps", steps)
    monkeypatch.setattr(FIGURES["sushi"], "clients", clients)
    options = Options(repetitions=repetitions, data=tmp_path)
    (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
    with made.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], row["where"]) for row in rows} == DRAWN.keys() | LISTED.keys()
    ranks = [reference.inverse(order.tolist()) for order in orders]
    held = [[r for r, k in zip(ranks, regions, strict=True) if k == c] for c in range(clients)]

    def score(found):
        return sum(reference.kendall(found, r) for r in ranks) / (len(ranks) * 5)

    source, sure = random.Random(4), set()
    for row in rows:
        which = row["method"], row["where"]
        parts = [part[: math.ceil(len(part) * int(row["step"]) / steps)] for part in held]
        mean, error = float(row["mean"]), float(row["standard_error"])
        if which in LISTED:
            scores = [score(found) for found in LISTED[which](parts)]
            assert min(scores) - 1e-12 <= mean <= max(scores) + 1e-12, (row, scores)
            sure |= {which} if max(scores) == min(scores) else set()
        else:
            scores = [score(DRAWN[which](parts, source)) for _ in range(repetitions)]
            gap = abs(mean - np.mean(scores))
            spread = math.hypot(error, np.std(scores, ddof=1) / math.sqrt(repetitions))
            assert gap <= max(5 * spread, 1e-12), (row, np.mean(scores))
    assert sure == LISTED.keys()  # each had a step with one right score
    curves = {}
    for row in rows:
        curves.setdefault((row["method"], row["where"]), []).append(row["mean"])
    both = curves.pop(("Kemeny", "federated")), curves.pop(("Kemeny", "centralized"))
    assert all(curve not in both for curve in curves.values())
    assert len(set(map(tuple, curves.values()))) == len(curves)


def test_other_data_are_computed_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(FIGURES["sushi"], "steps", 1)
    tables = {}
    for seed in (1, 2):
        folder = tmp_path / f"data {seed}"
        folder.mkdir()
        made_up_sushi(folder, people=30, seed=seed)
        options = Options(repetitions=1, data=folder)
        alone = tmp_path / f"alone {seed}"
        tables[seed] = reproduce(["sushi"], alone, options, formats=())[0].table.read_text()
        (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
        assert made.table.read_text() == tables[seed]
    assert tables[1] != tables[2]
    for file in (tmp_path / "data 1" / "sushi").iterdir():  # the same names, other content
        file.write_bytes((tmp_path / "data 2" / "sushi" / file.name).read_bytes())
    options = Options(repetitions=1, data=tmp_path / "data 1")
    (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
    assert made.table.read_text() == tables[2]
    (made,) = reproduce(["sushi"], tmp_path / "alone 1", options, formats=())
    assert made.table.read_text() == tables[2]


@pytest.mark.parametrize("name", ["bins", "synthetic-n10-identity-clients", "sushi"])
def test_progress_moves_within_a_part_and_ends_when_all_is_done(tmp_path, monkeypatch, name):
    made_up_sushi(tmp_path, people=30)
    monkeypatch.setattr(FIGURES["sushi"], "steps", 2)
    monkeypatch.setattr(synthetic, "STEPS", (1, 2))
    bars = []

    class Bar(Progress):
        def __init__(self, label, total):
            super().__init__(label, total)
            self.moves = 0
            bars.append(self)

        def advance(self, steps=1):
            super().advance(steps)
            self.moves += 1

    monkeypatch.setattr(sys.modules[reproduce.__module__], "Progress", Bar)
    options = Options(repetitions=3, data=tmp_path)
    reproduce([name], tmp_path / "out", options, formats=())
    reproduce([name], tmp_path / "out", options, formats=())
    first, again = bars
    parts = {"bins": 5, "sushi": 2}.get(name, 6)
    assert first.done == first.total == again.done == again.total
    assert first.moves == parts * {"bins": 1, "sushi": 3 * len(real.RULES)}.get(name, 2)
    assert again.moves == parts  # which are known


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
