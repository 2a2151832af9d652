"""Pictures: what is drawn is what the definitions say."""

import csv
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure

import fedrank as fr
import reference
from fedrank import plots

NAMES = ["ann", "bob", "cy", "dée", "Ωμέγα", "$x_1$"]


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    plt.close("all")  # of others
    yield
    assert plt.get_fignums() == []


def parties(n, clients, samples, phi=0.8, items=None, seed=0):
    """Made-up rankings of each client."""
    rng = np.random.default_rng(seed)
    center = fr.Rankings(rng.permutation(n), items)
    data = fr.Mallows(phi, center=center).sample(clients * samples, rng)
    return [data[start : start + samples] for start in range(0, len(data), samples)]


def rows(**columns):
    """Rows of a table, from its columns."""
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def curve(method, where, means, se=0.0):
    count = len(means)
    return rows(
        method=[method] * count,
        where=[where] * count,
        samples=range(1, count + 1),
        mean=means,
        se=[se] * count,
    )


TWO = curve("Borda", "federated", [3.0, 1.0, 0.5], 0.1) + curve(
    "Lehmer", "centralized", [4.0, 2.0, 1.0], 0.2
)

EVERY = {
    "bump": lambda ax: plots.consensus(range(6), parties(6, 3, 4), ax=ax),
    "heat": lambda ax: plots.consensus(range(40), parties(40, 3, 4), ax=ax),
    "curves": lambda ax: plots.error_curves(TWO, "samples", se="se", ax=ax),
    "sizes": lambda ax: plots.message_sizes([fr.Borda(9, 3), fr.Lehmer(9, 3)], ax=ax),
    "agreement": lambda ax: plots.agreement(parties(6, 4, 3), ax=ax),
    "bins": lambda ax: plots.bins(6, [0.2, 0.7], ax=ax),
}
every = pytest.mark.parametrize("draw", EVERY.values(), ids=EVERY.keys())


# What all have in common


@every
def test_axes_are_labelled(draw):
    ax = draw(None)
    assert isinstance(ax, Axes)
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@every
def test_the_axes_given_are_drawn_in_and_returned(draw):
    left, right = Figure(layout="constrained").subplots(1, 2)
    assert draw(right) is right
    assert right.has_data()
    assert not left.has_data()


@every
def test_several_axes_are_refused(draw):
    with pytest.raises(ValueError, match="ax must be one matplotlib Axes, not ndarray"):
        draw(Figure().subplots(1, 2))


@every
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_drawn_twice_is_the_same_bytes(draw, suffix, tmp_path):
    for name in "ab":
        plots.save(draw(None), tmp_path / f"{name}.{suffix}")
    first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert first.startswith({"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml"}[suffix])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{suffix}", f"b.{suffix}"]
    if suffix == "png":
        pixels = plt.imread(tmp_path / "a.png")
        assert pixels.min() < pixels.max()  # not a blank sheet
    else:
        assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"
        assert b"<dc:date>" not in first


@every
def test_a_picture_saved_twice_is_the_same_bytes(draw, tmp_path):
    ax = draw(None)
    for name in "ab":
        plots.save(ax, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_pdf_tells_no_time(tmp_path):
    plots.save(plots.bins(3, 0.5), tmp_path / "a.pdf")
    written = (tmp_path / "a.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    assert b"Date" not in written


def test_saving_leaves_the_layout_to_the_figure(tmp_path):
    ax = plots.bins(3, 0.5)
    plots.save(ax, tmp_path / "a.png")
    before = ax.get_position().height
    ax.set_title("two\nlines")
    plots.save(ax, tmp_path / "b.png")
    assert ax.get_position().height < before


@every
def test_no_text_is_cut_by_the_edge(draw):
    ax = draw(None)
    figure = ax.figure
    figure.draw_without_rendering()  # lays out
    width, height = figure.canvas.get_width_height()
    box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= width + 1
    assert box.y1 <= height + 1


# consensus


def test_lines_go_through_the_consensus_and_the_clients_places():
    clients = parties(6, 3, 4, phi=1.0, items=NAMES)
    found = fr.aggregate(clients[0], rng=0)
    ax = plots.consensus(found, clients)
    own = [reference.borda(each.ranks.tolist()) for each in clients]
    drawn = {tuple(line.get_ydata()) for line in ax.lines}
    assert drawn == {(found.ranks[item], *(ranking[item] for ranking in own)) for item in range(6)}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(found.labels)
    right = {text.get_text(): text.xy[1] for text in ax.texts}
    assert right == dict(zip(NAMES, own[-1], strict=True))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best at the top


def test_lines_of_a_bump_chart_differ_in_colour_or_marker():
    ax = plots.consensus(range(30), parties(30, 2, 2))
    looks = {(line.get_color(), line.get_marker()) for line in ax.lines}
    assert len(looks) == len(ax.lines) == 30


def test_clients_that_were_lost_are_left_out():
    clients = parties(6, 5, 4)
    result = fr.federate(clients, "borda", dropouts=[1], rng=0)
    ax = plots.consensus(result, clients)
    assert [tick.get_text().strip() for tick in ax.get_xticklabels()] == [
        *("consensus", "0", "2", "3", "4")
    ]
    own = [reference.borda(clients[client].ranks.tolist()) for client in (0, 2, 3, 4)]
    drawn = {tuple(line.get_ydata())[1:] for line in ax.lines}
    assert drawn == set(zip(*own, strict=True))


def test_keys_of_a_mapping_name_the_clients():
    clients = dict(zip(["north", "south"], parties(6, 2, 4), strict=True))
    ax = plots.consensus(range(6), clients)
    assert [tick.get_text().strip() for tick in ax.get_xticklabels()] == [
        *("consensus", "north", "south")
    ]


def test_items_label_unlabelled_rankings():
    ax = plots.consensus([1, 0], [[[0, 1]]], items=["first", "second"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["second", "first"]


def test_a_long_label_loses_its_middle():
    ax = plots.consensus([0, 1], [[[0, 1]]], items=["a" * 50 + "1", "a" * 50 + "2"])
    texts = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [(len(text), text[-1]) for text in texts] == [(28, "1"), (28, "2")]


@pytest.mark.parametrize(("n", "clients"), [(31, 2), (130, 3), (5, 26)])
def test_cells_of_the_heat_map_are_shares_of_the_rankings(n, clients):
    data = parties(n, clients, 3, phi=0.97)
    found = fr.aggregate(data[0], rng=0)
    mesh = plots.consensus(found, data).collections[0]
    corners = mesh.get_coordinates()
    x_edges, y_edges = corners[0, :, 0], corners[:, 0, 1]
    pairs = Counter()
    for each in data:
        for ranking in each.ranks.tolist():
            for item in range(n):
                place = int(found.ranks[item])
                column = sum(edge < place for edge in x_edges) - 1
                row = sum(edge < ranking[item] - place for edge in y_edges) - 1
                pairs[row, column] += 1
    shares = mesh.get_array().filled(0)
    items = [round(right - left) for left, right in pairwise(x_edges)]
    assert sum(items) == n
    for (row, column), share in np.ndenumerate(shares):
        assert share == pytest.approx(pairs[row, column] / (3 * clients * items[column]))
    assert sum(pairs.values()) == 3 * clients * n
    assert shares.sum(axis=0) == pytest.approx(np.ones(len(items)))


def test_a_heat_map_of_few_items_names_them():
    ax = plots.consensus([1, 0], [[[0, 1]]] * 26, items=["first", "second"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["second", "first"]


def test_a_heat_map_of_rankings_that_all_agree_is_drawn():
    ax = plots.consensus(range(40), [[range(40)]] * 2)
    assert not isinstance(ax.collections[0].norm, LogNorm)
    assert ax.collections[0].get_array().compressed().tolist() == [1.0] * 40


@pytest.mark.parametrize("n", [1, 2])
def test_one_client_and_few_items_are_drawn(n):
    ax = plots.consensus(range(n), [[range(n)]])
    assert [line.get_ydata().tolist() for line in ax.lines] == [[i, i] for i in range(n)]
    assert plots.agreement([[range(n)]]).images[0].get_array().tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([0, 1], []), "no clients were given"),
        (([0, 1], [[[0, 1, 2]]]), "ranks 2 items but the clients rank 3"),
        (([[0, 1], [1, 0]], [[[0, 1]]]), "must be one ranking, not 2"),
        (([0, 0], [[[0, 1]]]), "0 is used twice"),
        (([0, 1], [[[0, 1]], [[1, 1]]]), "client 1: row 0: not a ranking"),
        (([0, 1], [[[0, 1]]], None, ["a"]), "1 labels were given for 2 items"),
    ],
)
def test_a_consensus_that_cannot_be_drawn_is_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        plots.consensus(*arguments)


def test_a_result_needs_all_its_clients():
    clients = parties(6, 5, 4)
    result = fr.federate(clients, "borda", rng=0)
    with pytest.raises(ValueError, match="4 clients were given for a result of 5"):
        plots.consensus(result, clients[:4])


def test_clients_that_label_items_differently_are_refused():
    clients = [fr.Rankings([[0, 1]], items=["a", "b"]), fr.Rankings([[0, 1]], items=["b", "a"])]
    for draw in (plots.agreement, lambda given: plots.consensus([0, 1], given)):
        with pytest.raises(ValueError, match="label their items differently"):
            draw(clients)


# error curves


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
    looks = list(plots.METHODS.values())
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
        ([], "no rows"),
        (5, "table must be a list"),
        ([3], "row 0 must be a mapping"),
        ([{"method": "a", "where": "federated", "mean": 1}], "row 0 has no column 'samples'"),
        ([TWO[0], TWO[1] | {"mean": "n/a"}], "row 1: mean must be a number, not 'n/a'"),
        ([TWO[0] | {"mean": float("inf")}], "row 0: mean must be a number, not inf"),
        ([TWO[0] | {"se": -1}], "row 0: se must not be below 0"),
        ([TWO[0] | {"where": "here"}], "where must be federated or centralized, not 'here'"),
        ([TWO[0], TWO[0]], "row 1 is a second one for Borda, federated, samples = 1"),
        ([TWO[0] | {"method": f"m{i}"} for i in range(9)], "9 methods in one figure"),
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


# message sizes


def bars(ax):
    """Segments of each bar: (left end, right end), by row from the top."""
    found = {}
    for patch in sorted(ax.patches, key=lambda patch: patch.get_x()):
        row = round(patch.get_y() + patch.get_height() / 2)
        if patch.get_width():
            ends = (patch.get_x(), patch.get_x() + patch.get_width())
            found.setdefault(row, []).append(ends)
    return found


def test_bars_are_the_bits_of_the_messages_and_of_raw_rankings():
    n, clients, samples = 40, 7, 5
    schemes = {
        "places": fr.Borda(n, clients),
        "sums": fr.Borda(n, clients, quantize=False, max_samples=samples),
        "digits": fr.Lehmer(n, clients),
        "both": fr.Lehmer(n, clients, low_bits=3),
    }
    expected = [
        sum(reference.borda_widths(n, clients)),
        sum(reference.borda_widths(n, clients, samples)),
        sum(reference.lehmer_widths(n, clients, 0)),
        sum(reference.lehmer_widths(n, clients, 3)),
        samples * n * 6,  # 6 bits hold a position below 40
    ]
    ax = plots.message_sizes(schemes, samples=samples)
    drawn = bars(ax)
    assert [drawn[row][-1][1] for row in range(5)] == expected
    assert [text.get_text() for text in ax.texts] == [f"{-(-bits // 8)} B" for bits in expected]
    assert ax.get_xscale() == "log"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [*schemes, "5 raw rankings"]
    # Stacked: high parts first, the one-hot slots where they end.
    slots = sum(min(8, i + 1) - 1 for i in range(n)) * 3
    assert drawn[3] == [(0, expected[3] - slots), (expected[3] - slots, expected[3])]


def test_a_result_shows_all_that_a_client_sent():
    clients = parties(40, 5, 3)
    result = fr.federate(clients, "borda", dropouts=[4], rng=0)
    (message, rest), _ = bars(plots.message_sizes(result)).values()
    assert message == (0, sum(reference.borda_widths(40, 5)))
    assert rest == (message[1], 8 * max(result.bytes_up[:4]))


def test_segments_have_distinct_colours_and_a_legend():
    results = [fr.federate(parties(40, 5, 3), "lehmer", low_bits=2, rng=0)]
    schemes = [fr.Borda(40, 5), fr.Borda(40, 5, quantize=False, max_samples=9), *results]
    ax = plots.message_sizes(schemes)
    handles, labels = ax.get_legend_handles_labels()
    assert len(labels) == len(set(labels)) == 6
    assert len({handle[0].get_facecolor() for handle in handles}) == 6


def test_a_message_of_no_bits_is_drawn():
    ax = plots.message_sizes(fr.Borda(1, 3))
    assert [text.get_text() for text in ax.texts] == ["0 B", "1 B"]


def test_sizes_of_other_things_are_refused():
    for senders, named in (
        ([], "no schemes"),
        ([3], "3 is neither a scheme nor a federated result"),
        ([fr.Borda(5, 3), fr.Borda(6, 3)], "different numbers of items: 5, 6"),
    ):
        with pytest.raises(ValueError, match=named):
            plots.message_sizes(senders)
    with pytest.raises(ValueError, match="samples must be a whole number of at least 1, not 0"):
        plots.message_sizes(fr.Borda(5, 3), samples=0)


# agreement


def test_cells_are_kendall_distances_over_the_largest():
    clients = parties(7, 5, 3, phi=1.0)
    own = [reference.borda(each.ranks.tolist()) for each in clients]
    expected = [[reference.kendall(a, b) / 21 for b in own] for a in own]
    ax = plots.agreement(clients)
    assert ax.images[0].get_array().data == pytest.approx(np.array(expected))
    cells = [text.get_text() for text in ax.texts]
    assert cells == [f"{value:.2f}" for line in expected for value in line]
    assert ax.images[0].colorbar.ax.get_ylabel() == "Kendall distance / largest possible"


def test_cells_of_many_clients_are_not_annotated():
    assert not plots.agreement(parties(5, 13, 1)).texts


def test_sorting_puts_like_clients_side_by_side():
    here, there = parties(20, 6, 3, phi=0.5, seed=1), parties(20, 6, 3, phi=0.5, seed=2)
    clients = [part for pair in zip(here, there, strict=True) for part in pair]
    names = [f"{side}{i}" for i in range(6) for side in "ht"]
    ax = plots.agreement(dict(zip(names, clients, strict=True)), sort=True)
    order = [tick.get_text() for tick in ax.get_yticklabels()]
    assert sorted(order) == sorted(names)
    assert [name[0] for name in order] == ["h"] * 6 + ["t"] * 6
    own = {
        name: reference.borda(part.ranks.tolist())
        for name, part in zip(names, clients, strict=True)
    }
    expected = [[reference.kendall(own[a], own[b]) / 190 for b in order] for a in order]
    assert ax.images[0].get_array().data == pytest.approx(np.array(expected))


# bins


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_bins_meet_at_midpoints_of_the_expected_positions(n):
    phis = [0.0, 0.3, 0.9]
    ax = plots.bins(n, phis)
    for row, phi in enumerate(phis):
        centroids = [float(c) for c in reference.expected_positions(phi, n)]
        edges = [0.0, *((a + b) / 2 for a, b in pairwise(centroids)), n - 1.0]
        patches = ax.patches[row * n : (row + 1) * n]
        assert [patch.get_x() for patch in patches] == pytest.approx(edges[:-1])
        ends = [patch.get_x() + patch.get_width() for patch in patches]
        assert ends == pytest.approx(edges[1:])
        assert ax.lines[row].get_xdata() == pytest.approx(centroids)
        assert set(ax.lines[row].get_ydata()) == {row}


def test_one_phi_needs_no_list():
    assert [tick.get_text() for tick in plots.bins(4, 0.25).get_yticklabels()] == ["0.25"]


@pytest.mark.parametrize(
    ("n", "phis", "named"),
    [
        (0, [0.5], "n must be a whole number of at least 1, not 0"),
        (5, [], "no phis"),
        (5, [0.5, 1.5], r"phi must be in \[0, 1\], not 1.5"),
        (5, ["x"], r"phi must be in \[0, 1\], not 'x'"),
        (5, [0.5, 1], "phi must be below 1"),
    ],
)
def test_bins_that_cannot_be_are_refused(n, phis, named):
    with pytest.raises(ValueError, match=named):
        plots.bins(n, phis)


# save and import


@pytest.mark.parametrize("name", ["picture.gif", "picture", ".png", "picture.PNG.txt"])
def test_an_unknown_suffix_is_refused_before_anything_is_made(name, tmp_path):
    with pytest.raises(ValueError, match=r"should end in one of \.png, \.svg, \.pdf"):
        plots.save(plots.bins(3, 0.5), tmp_path / "folder" / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path):
    with pytest.raises(ValueError, match=r"a\.png: there is no folder .*absent"):
        plots.save(plots.bins(3, 0.5), tmp_path / "absent" / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_figure_of_pyplot_is_saved_and_stays_the_callers(tmp_path):
    figure, ax = plt.subplots()
    plots.bins(3, 0.5, ax=ax)
    plots.save(figure, tmp_path / "a.PNG")
    plots.save(ax, str(tmp_path / "b.png"))
    assert (tmp_path / "a.PNG").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert plt.get_fignums() == [figure.number]
    plt.close(figure)


def test_axes_of_a_part_save_the_whole_figure(tmp_path):
    whole = Figure(figsize=(4, 2))
    plots.bins(3, 0.5, ax=whole.subfigures(1, 2)[0].subplots())
    plots.save(whole.axes[0], tmp_path / "a.png")
    assert plt.imread(tmp_path / "a.png").shape[:2] == (300, 600)


def test_only_pictures_are_saved(tmp_path):
    with pytest.raises(ValueError, match="only Axes and Figures can be saved, not list"):
        plots.save([1], tmp_path / "a.png")


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path):
    target = tmp_path / "a.png"
    target.mkdir()
    with pytest.raises(OSError, match=r"a\.png"):
        plots.save(plots.bins(3, 0.5), target)
    assert list(tmp_path.iterdir()) == [target]


def test_saving_changes_no_setting(tmp_path):
    before = dict(plt.rcParams)
    backend = plt.get_backend()
    plots.save(plots.bins(3, 0.5), tmp_path / "a.svg")
    assert dict(plt.rcParams) == before
    assert plt.get_backend() == backend


def test_fedrank_does_not_import_matplotlib(python):
    done = python("import fedrank, sys; print('matplotlib' in sys.modules)")
    assert (done.stdout.strip(), done.returncode) == ("False", 0)


def test_plots_do_not_import_pyplot(python):
    done = python("import fedrank.plots, sys; print('matplotlib.pyplot' in sys.modules)")
    assert (done.stdout.strip(), done.returncode) == ("False", 0)


@pytest.mark.parametrize("kind", ["ImportError", "ValueError"])
def test_without_matplotlib_the_import_says_what_to_install(python, kind):
    done = python(
        "import sys; sys.modules['matplotlib'] = None\n"
        f"try:\n    import fedrank.plots\nexcept {kind} as error:\n    print(error)"
    )
    assert done.stdout.strip() == "pictures need matplotlib: pip install 'fedrank[plot]'"
