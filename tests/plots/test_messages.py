"""Pictures of message sizes and bins."""

from itertools import pairwise

import pytest

import fedrank as fr
from fedrank import plots
from helpers import reference
from helpers.drawings import parties

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


def test_bars_are_the_bytes_of_the_messages_and_of_raw_rankings():
    n, clients, samples = 40, 7, 5
    schemes = {
        "places": fr.Borda(n, clients, send="centroids"),
        "sums": fr.Borda(n, clients, send="sums", max_samples=samples),
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
    assert [8 * drawn[row][-1][1] for row in range(5)] == expected
    assert [text.get_text() for text in ax.texts] == [f"{-(-bits // 8)} B" for bits in expected]
    assert ax.get_xscale() == "linear"
    assert ax.get_xlim()[0] == 0
    assert ax.get_xlabel() == "bytes per client"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [*schemes, "5 raw rankings"]
    # Stacked: high parts first, the one-hot slots where they end.
    slots = sum(min(8, i + 1) - 1 for i in range(n)) * 3
    assert drawn[3] == [
        (0, (expected[3] - slots) / 8),
        ((expected[3] - slots) / 8, expected[3] / 8),
    ]


def test_a_result_shows_all_that_a_client_sent():
    clients = parties(40, 5, 3)
    result = fr.federate(clients, "borda", dropouts=[4], rng=0)
    (message, rest), _ = bars(plots.message_sizes(result)).values()
    assert message == (0, sum(reference.borda_widths(40, 5, 4)) / 8)
    assert rest == (message[1], max(result.bytes_up[:4]))


@pytest.mark.parametrize(
    ("n", "unit", "ticks"),
    [
        (40, "bytes", {"0", "15", "60"}),
        (978, "bytes", {"0", "400", "1,200"}),
        (20_000, "kB", {"0", "10", "20"}),
    ],
)
def test_sizes_are_written_out_in_bytes_or_kilobytes(n, unit, ticks):
    ax = plots.message_sizes(fr.Borda(n, 10))
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == f"{unit} per client"
    assert ticks <= {tick.get_text() for tick in ax.get_xticklabels()}


def test_segments_have_distinct_colours_and_a_legend():
    results = [fr.federate(parties(40, 5, 3), "lehmer", low_bits=2, rng=0)]
    schemes = [fr.Borda(40, 5), fr.Borda(40, 5, send="sums", max_samples=9), *results]
    ax = plots.message_sizes(schemes)
    handles, labels = ax.get_legend_handles_labels()
    assert len(labels) == len(set(labels)) == 6
    assert len({handle[0].get_facecolor() for handle in handles}) == 6


def test_a_message_of_no_bits_is_drawn():
    ax = plots.message_sizes(fr.Borda(1, 3))
    assert [text.get_text() for text in ax.texts] == ["0 B", "1 B"]


def test_sizes_of_other_things_are_refused():
    for senders, named in (
        ([], "senders must not be empty"),
        ([3], "senders must be schemes or federated results, not 3"),
        ([fr.Borda(5, 3), fr.Borda(6, 3)], "must all be for one number of items, not for 5, 6"),
    ):
        with pytest.raises(ValueError, match=named):
            plots.message_sizes(senders)
    with pytest.raises(ValueError, match="samples must be a whole number of at least 1, not 0"):
        plots.message_sizes(fr.Borda(5, 3), samples=0)


# bins


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_bins_meet_at_midpoints_of_the_expected_places(n):
    phis = [0.0, 0.3, 0.9]
    ax = plots.bins(n, phis)
    for row, phi in enumerate(phis):
        centroids = [1 + float(c) for c in reference.expected_positions(phi, n)]
        edges = [1.0, *((a + b) / 2 for a, b in pairwise(centroids)), float(n)]
        boxes = [path.get_extents() for path in ax.collections[row].get_paths()]
        assert [box.x0 for box in boxes] == pytest.approx(edges[:-1])
        assert [box.x1 for box in boxes] == pytest.approx(edges[1:])
        assert ax.lines[row].get_xdata() == pytest.approx(centroids)
        assert set(ax.lines[row].get_ydata()) == {row}
    assert ax.get_xlabel() == "mean place (1 = best)"


def test_one_phi_needs_no_list():
    assert [tick.get_text() for tick in plots.bins(4, 0.25).get_yticklabels()] == ["0.25"]


@pytest.mark.parametrize(
    ("n", "phis", "named"),
    [
        (0, [0.5], "n must be a whole number of at least 1, not 0"),
        (5, [], "phis must not be empty"),
        (5, [0.5, 1.5], r"phi must be in \[0, 1\], not 1.5"),
        (5, ["x"], r"phi must be in \[0, 1\], not 'x'"),
        (5, [0.5, 1], "phi must be below 1"),
    ],
)
def test_bins_that_cannot_be_are_refused(n, phis, named):
    with pytest.raises(ValueError, match=named):
        plots.bins(n, phis)
