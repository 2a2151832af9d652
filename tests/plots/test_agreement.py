"""Pictures of how far apart the clients are."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import fedrank as fr
from fedrank import plots
from helpers.drawings import own_places, parties


def distance(a, b):
    """Share of the pairs that two rankings with ties order differently; a tie counts one half."""
    pairs = list(combinations(range(len(a)), 2))
    order = [np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs]
    return sum((1 - each) / 2 for each in order) / max(1, len(pairs))


def cells(ax):
    return np.array(ax.images[0].get_array())


@pytest.mark.parametrize("samples", [2, 3])  # with two rankings, many items are tied
def test_cells_are_kendall_distances_over_the_largest(samples):
    clients = parties(7, 5, samples, phi=1.0)
    own = own_places(clients)
    expected = [[distance(a, b) for b in own] for a in own]
    ax = plots.agreement(clients)
    assert cells(ax) == pytest.approx(np.array(expected))
    written = [text.get_text() for text in ax.texts]
    assert written == [f"{value:.2f}" for line in expected for value in line]
    assert ax.images[0].colorbar.ax.get_ylabel() == "Kendall distance / largest possible"


def test_pairs_that_partial_rankings_tie_count_one_half():
    one = fr.PartialRankings([[0, 1, 2]])
    two = fr.PartialRankings([[1, 0, -1]])
    none = fr.PartialRankings([[0, 0, 0]])
    found = cells(plots.agreement([one, two, none]))
    assert found == pytest.approx(np.array([[0, 1 / 3, 0.5], [1 / 3, 0, 0.5], [0.5, 0.5, 0.5]]))


def test_clients_with_partial_and_complete_rankings_are_drawn_together():
    ax = plots.agreement({"ballots": fr.PartialRankings([[0, -1]]), "lists": [[0, 1]]})
    assert cells(ax).tolist() == [[0, 0], [0, 0]]


def test_the_scale_is_fixed_and_marks_chance():
    for clients in (parties(20, 4, 9, phi=0.1), [[[0, 1, 2]], [[2, 1, 0]]]):
        image = plots.agreement(clients).images[0]
        assert image.get_clim() == (0, 1)
        assert [line.get_ydata()[0] for line in image.colorbar.ax.lines] == [0.5]
        ticks = dict(
            zip(
                image.colorbar.get_ticks().tolist(),
                [text.get_text() for text in image.colorbar.ax.get_yticklabels()],
                strict=True,
            )
        )
        assert (ticks[0], ticks[0.5], ticks[1]) == ("0 same", "0.5 chance", "1 opposite")


def test_unrelated_rankings_are_at_chance():
    rng = np.random.default_rng(0)
    found = cells(plots.agreement([[rng.permutation(500)] for _ in range(6)]))
    apart = found[~np.eye(6, dtype=bool)]
    assert abs(apart.mean() - 0.5) < 0.02


def test_cells_of_many_clients_are_not_annotated():
    assert not plots.agreement(parties(5, 13, 1)).texts


@pytest.mark.parametrize("n", [1, 2])
def test_one_client_and_few_items_are_drawn(n):
    assert cells(plots.agreement([[range(n)]])).tolist() == [[0.0]]


def test_sorting_puts_like_clients_side_by_side():
    here, there = parties(20, 6, 3, phi=0.5, seed=1), parties(20, 6, 3, phi=0.5, seed=2)
    clients = [part for pair in zip(here, there, strict=True) for part in pair]
    names = [f"{side}{i}" for i in range(6) for side in "ht"]
    ax = plots.agreement(dict(zip(names, clients, strict=True)), sort=True)
    order = [tick.get_text() for tick in ax.get_yticklabels()]
    assert sorted(order) == sorted(names)
    assert [name[0] for name in order] == ["h"] * 6 + ["t"] * 6
    own = dict(zip(names, own_places(clients), strict=True))
    expected = [[distance(own[a], own[b]) for b in order] for a in order]
    assert cells(ax) == pytest.approx(np.array(expected))


def test_sort_is_true_or_false():
    with pytest.raises(ValueError, match="sort must be True or False, not 'yes'"):
        plots.agreement([[[0, 1]]], sort="yes")
    assert not plt.get_fignums()
