"""`reproduce`: tidy tables, pictures, going on after a stop, and what is refused."""

import csv

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

import fedrank as fr
from fedrank.experiments import (
    FIGURES,
    Options,
    find,
    pictures,
    real,
    reproduce,
    synthetic,
    table,
)
from helpers import reference


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
    assert shown == [
        "Algorithm 2 (Borda, quantized)",
        "Algorithm 3 (Lehmer)",
        "Lehmer, nearest (ours)",
        "Algorithm 1 (Borda, centralized)",
        "Lehmer, centralized",
        "Kemeny, centralized",
    ]
    drawn = figure.legends[0].legend_handles
    assert [line.get_linestyle() for line in drawn] == ["-"] * 3 + ["--"] * 3


def test_titles_name_the_papers_algorithms():
    for figure in (*synthetic.FIGURES, *real.FIGURES):
        assert figure.title.startswith("Algorithms 1 to 3"), figure.name
    assert FIGURES["bins"].title.startswith("Algorithm 2")


def test_pictures_are_written_and_no_figure_stays_open(tmp_path):
    before = plt.get_fignums()
    (made,) = reproduce(["bins"], tmp_path, Options(repetitions=2))
    assert [path.name for path in made.pictures] == ["bins.png", "bins.svg"]
    assert all(path.stat().st_size for path in made.pictures)
    assert plt.get_fignums() == before


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


def test_unknown_figures_are_refused():
    with pytest.raises(ValueError, match=r"there is no figure 'fig3'; fedrank\.experiments"):
        find(["fig3"])


def test_no_repetitions_are_refused(tmp_path):
    with pytest.raises(ValueError, match="repetitions must be a whole number of at least 1, not 0"):
        reproduce(["bins"], tmp_path, Options(repetitions=0))


def test_data_that_are_missing_are_an_error_alone_and_passed_over_in_a_group(tmp_path):
    folder = tmp_path / "no data"
    folder.mkdir()
    options = Options(repetitions=1, data=folder)
    with pytest.raises(
        FileNotFoundError, match=f"get it into {folder} with 'fedrank data fetch sushi'"
    ):
        reproduce(["sushi"], tmp_path, options)
    made = reproduce(["real"], tmp_path, options)
    assert [each.table for each in made] == [None] * 5
    assert all(f"'fedrank data fetch {each.name}'" in each.problem for each in made)


def test_the_usual_data_folder_is_not_named_to_fetch_into(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDRANK_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="get it with 'fedrank data fetch sushi'"):
        reproduce(["sushi"], tmp_path, Options(repetitions=1))


def test_a_data_folder_that_is_not_there_is_refused(tmp_path):
    options = Options(repetitions=1, data=tmp_path / "typo")
    for names in (["real"], ["sushi"], ["all"]):
        with pytest.raises(
            ValueError, match=r"data must be the folder of .*, but there is no folder .*typo"
        ):
            reproduce(names, tmp_path / "out", options)
    assert not list(tmp_path.iterdir())
