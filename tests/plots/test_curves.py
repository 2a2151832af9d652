"""Pictures of error curves, and of what a planner measured."""

import csv

import numpy as np
import pytest
from matplotlib.colors import to_hex

from fedrank import plots
from fedrank.planning.plan import Plan, Point
from fedrank.plots._style import METHODS
from helpers.drawings import TWO, curve


def test_curves_are_the_means_and_bands_one_standard_error():
    ax = plots.error_curves(TWO, "samples", se="se")
    for line, means in zip(ax.lines, ([3.0, 1.0, 0.5], [4.0, 2.0, 1.0]), strict=True):
        assert line.get_xdata().tolist() == [1, 2, 3]
        assert line.get_ydata().tolist() == means
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    for band, se, means in zip(
        ax.collections, (0.1, 0.2), ([3.0, 1.0, 0.5], [4.0, 2.0, 1.0]), strict=True
    ):
        corners = {(x, round(y, 9)) for x, y in band.get_paths()[0].vertices.tolist()}
        for x, mean in enumerate(means, start=1):
            assert {(x, round(mean - se, 9)), (x, round(mean + se, 9))} <= corners


def test_a_csv_file_draws_the_same_curves_whatever_its_rows_order(tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:  # as spreadsheets write it
        writer = csv.DictWriter(file, list(TWO[0]))
        writer.writeheader()
        writer.writerows([TWO[2], TWO[0], TWO[1], *TWO[3:]])
    for table in (path, str(path)):
        drawn = plots.error_curves(table, "samples", se="se").lines
        assert [line.get_ydata().tolist() for line in drawn] == [[3.0, 1.0, 0.5], [4.0, 2.0, 1.0]]


def test_without_a_standard_error_there_is_no_band():
    assert not plots.error_curves(TWO, "samples").collections
    blank = [row | {"se": ""} for row in TWO]
    bands = plots.error_curves(blank, "samples", se="se").collections
    assert not any(len(path) for band in bands for path in band.get_paths())


def test_each_method_keeps_its_colour_in_every_figure():
    def colours(*methods):
        table = [row for method in methods for row in curve(method, "federated", [1.0, 0.0])]
        lines = plots.error_curves(table, "samples").lines
        return {name: line.get_color() for name, line in zip(methods, lines, strict=True)}

    alone = {name: colours(name)[name] for name in ("Borda", "Lehmer", "footrule", "Kemeny")}
    for names in (("Kemeny", "footrule"), ("a method of mine", "Lehmer", "footrule", "Borda")):
        assert {name: alone[name] for name in names if name in alone}.items() <= colours(
            *names
        ).items()
    everyone = [*alone, "Lehmer, nearest", "one of mine", "pick", "another of mine"]
    assert len(set(colours(*everyone).values())) == len(everyone)


def test_colours_and_markers_of_the_methods_are_distinct():
    looks = list(METHODS.values())
    assert len({to_hex(colour) for colour, _ in looks}) == len(looks)
    assert len({marker for _, marker in looks}) == len(looks)


def test_names_that_differ_in_case_only_are_told_apart():
    table = curve("borda", "federated", [1.0]) + curve("Borda", "federated", [2.0])
    lines = plots.error_curves(table, "samples").lines
    assert lines[0].get_color() != lines[1].get_color()


def test_the_legend_explains_each_method_and_dash_once():
    ax = plots.error_curves(TWO + curve("Lehmer", "federated", [2.0]), "samples")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["Borda", "Lehmer", "federated", "centralized"]


@pytest.mark.parametrize("log", [False, True])
def test_curves_of_zeros_are_drawn_above_the_axis(log):
    ax = plots.error_curves(curve("Borda", "federated", [0.0] * 5), "samples", se="se", log=log)
    assert ax.lines[0].get_ydata().tolist() == [0.0] * 5
    bottom, top = ax.get_ylim()
    assert bottom < 0 < top


def test_zeros_show_on_a_logarithmic_axis():
    table = curve("Borda", "federated", [100.0, 0.03, 0.0])
    ax = plots.error_curves(table, "samples", log=True)
    heights = ax.transData.transform([(1, y) for y in (0.0, 0.03, 0.3, 3.0, 30.0)])[:, 1]
    assert ax.bbox.y0 < heights[0] < heights[1]
    decades = np.diff(heights[1:])
    assert decades == pytest.approx([decades[0]] * 3)  # a decade is as high as the next


def test_bands_of_errors_stop_at_zero():
    ax = plots.error_curves(curve("Borda", "federated", [0.1, 0.2], se=5.0), "samples", se="se")
    assert ax.collections[0].get_paths()[0].vertices[:, 1].min() == 0


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ([], "table must have at least one row"),
        (5, "table must be a list"),
        ([3], "row 0: a row must be a mapping"),
        ([{"method": "a", "where": "federated", "mean": 1}], "row 0: there is no column 'samples'"),
        ([TWO[0], TWO[1] | {"mean": "n/a"}], "row 1: mean must be a number, not 'n/a'"),
        ([TWO[0] | {"mean": float("inf")}], "row 0: mean must be a number, not inf"),
        ([TWO[0] | {"se": -1}], "row 0: se must be at least 0, not -1"),
        ([TWO[0] | {"where": "here"}], "where must be federated or centralized, not 'here'"),
        ([TWO[0], TWO[0]], "row 1: this is a second row for Borda, federated, samples = 1"),
        ([TWO[0] | {"method": f"m{i}"} for i in range(9)], "at most 8 methods, not 9"),
    ],
)
def test_a_table_that_cannot_be_drawn_is_named(table, named):
    with pytest.raises(ValueError, match=named):
        plots.error_curves(table, "samples", se="se")


def test_dashed_none_draws_all_solid_without_the_column():
    table = [{"method": "Borda", "samples": 1, "mean": 2.0}]
    ax = plots.error_curves(table, "samples", dashed=None)
    assert [line.get_linestyle() for line in ax.lines] == ["-"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Borda"]


# success


def plan(method="borda", samples=4, **facts):
    """A plan with three points, made up."""
    measured = {"center": "identity", "trials": 64, "distance": 1.0, "enough": True, "sure": True}
    points = tuple(
        Point(m, recovered=8 * m, value=m / 8, low=m / 8 - 0.1, high=m / 8 + 0.1, **measured)
        for m in (2, 4, 8)
    )
    given = {"n": 9, "phi": 0.5, "clients": 3, "delta": 0.05, "distance": None} | facts
    return Plan(
        method,
        samples=samples,
        at_least=2,
        at_most=8,
        limit=99,
        center="identity",
        points=points,
        message_bits=100,
        seconds=0.1,
        **given,
    )


def legend(ax):
    """The words of the legend, each with its line or patch."""
    box = ax.get_legend()
    return {
        text.get_text(): handle
        for text, handle in zip(box.get_texts(), box.legend_handles, strict=True)
    }


def test_success_draws_points_goal_and_samples_needed():
    ax = plots.success(plan())
    curve, needed, goal = ax.lines
    assert curve.get_xdata().tolist() == [2, 4, 8]
    assert curve.get_ydata().tolist() == [0.25, 0.5, 1.0]
    assert needed.get_xdata() == [4, 4]
    assert goal.get_ydata() == [0.95, 0.95]


def test_every_line_of_success_is_in_the_legend():
    ax = plots.success([plan(), plan("lehmer", samples=1600)])
    words = legend(ax)
    assert list(words) == [
        "borda, phi = 0.5: needs 4",
        "lehmer, phi = 0.5: needs 1,600",
        "goal: 0.95",
        "samples needed",
        "interval of a point",
    ]
    explained = {
        (handle.get_color(), handle.get_linestyle())
        for word, handle in words.items()
        if "interval" not in word
    }
    for line in ax.lines:
        dotted = line.get_linestyle() == ":"
        assert dotted or (line.get_color(), line.get_linestyle()) in explained


def test_plans_that_differ_in_size_only_have_different_labels():
    words = list(legend(plots.success([plan(n=9), plan(n=99, clients=5)])))
    assert words[:2] == [
        "borda, phi = 0.5, n = 9, clients = 3: needs 4",
        "borda, phi = 0.5, n = 99, clients = 5: needs 4",
    ]


def test_a_plan_that_no_number_meets_says_so():
    ax = plots.success(plan(samples=None, distance=0.2))
    assert list(legend(ax)) == [
        *("borda, phi = 0.5: none is enough", "goal: 0.2", "interval of a point")
    ]
    assert ax.get_ylabel() == "mean Kendall distance"


def test_sixteen_plans_are_told_apart():
    plans = [plan(phi=phi / 20) for phi in range(1, 17)]
    looks = {
        (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in plots.success(plans).lines
        if line.get_marker() != "None"
    }
    assert len(looks) == 16


def test_plans_that_cannot_be_drawn_together_are_refused():
    for plans, named in (([], "plans must not be empty"), ([plan(), plan(delta=0.1)], "one goal")):
        with pytest.raises(ValueError, match=named):
            plots.success(plans)
