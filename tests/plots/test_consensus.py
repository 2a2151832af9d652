"""Pictures of a consensus and of the clients' agreement."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import LogNorm

import fedrank as fr
from fedrank import plots
from helpers import reference
from helpers.drawings import parties

NAMES = ["ann", "bob", "cy", "dée", "Ωμέγα", "$x_1$"]


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
        (([0, 1], [[[0, 1]], [[1, 1]]]), "client 1, row 0: not a ranking"),
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
    clients = [fr.Rankings([[0, 1]], items=["a", "b"]), fr.Rankings([[0, 1]], items=["b", "c"])]
    for draw in (plots.agreement, lambda given: plots.consensus([0, 1], given)):
        with pytest.raises(ValueError, match="rank different items: client 0 lacks 1"):
            draw(clients)


def test_labels_decide_which_items_are_compared():
    clients = [fr.Rankings([[0, 1]], items=["a", "b"]), fr.Rankings([[0, 1]], items=["b", "a"])]
    assert plots.agreement(clients).images[0].get_array().tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_clients_of_a_named_result_are_found_by_name():
    own = {"north": [[0, 1, 2]], "east": [[2, 1, 0]], "south": [[1, 0, 2]], "west": [[0, 2, 1]]}
    result = fr.federate(own, dropouts=["east"], rng=0)
    turned = {name: own[name] for name in ("west", "south", "east", "north")}
    for clients in (own, turned):
        ax = plots.consensus(result, clients)
        shown = [text.get_text().strip() for text in ax.get_xticklabels()]
        assert shown == ["consensus", "north", "south", "west"]
        columns = np.array([line.get_ydata() for line in ax.lines]).T[1:]
        order = result.order.tolist()
        assert columns.tolist() == [[own[name][0][i] for i in order] for name in shown[1:]]
    with pytest.raises(ValueError, match="client 'west' of the result was not given"):
        plots.consensus(result, {name: own[name] for name in ("north", "east", "south")})


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
