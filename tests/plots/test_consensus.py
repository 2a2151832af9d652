"""Pictures of a consensus beside its clients."""

from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import LogNorm

import fedrank as fr
from fedrank import plots
from helpers import realdata
from helpers.drawings import own_places, parties

NAMES = ["ann", "bob", "cy", "dée", "Ωμέγα", "$x_1$"]


def texts(ticks):
    """What the labels of an axis say."""
    return [tick.get_text().strip() for tick in ticks]


def rows(ax):
    """What each row of the best items shows: its marks' places, by label of the marks."""
    return {line.get_label(): line.get_xdata().tolist() for line in ax.lines}


# The bump chart


def test_lines_go_through_the_consensus_and_the_clients_places():
    clients = parties(6, 3, 4, phi=1.0, items=NAMES)
    found = fr.aggregate(clients[0], rng=0)
    ax = plots.consensus(found, clients)
    own = own_places(clients)
    drawn = {tuple(line.get_ydata()) for line in ax.lines}
    assert drawn == {(found.ranks[item] + 1, *(each[item] for each in own)) for item in range(6)}
    assert texts(ax.get_yticklabels()) == [f"{x}  {i}" for i, x in enumerate(found.labels, 1)]
    assert ax.get_yticks().tolist() == [1, 2, 3, 4, 5, 6]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best at the top
    assert ax.get_ylabel() == "place in the consensus (1 = best)"


def test_labels_on_the_right_are_in_the_last_clients_order():
    ax = plots.consensus([0, 1, 2], [[[2, 0, 1]]], items="abc")
    assert {text.get_text(): text.xy[1] for text in ax.texts} == {"b": 1, "c": 2, "a": 3}


def test_tied_items_share_the_mean_of_their_places_and_are_marked():
    tied = fr.PartialRankings([[0, 1, 1, 1, -1]], items="abcde")
    ax = plots.consensus([4, 3, 2, 1, 0], [tied])
    assert {tuple(line.get_ydata()) for line in ax.lines} == {
        *((5, 1), (4, 3), (3, 3), (2, 3), (1, 5))
    }
    labels = {text.get_text() for text in ax.texts}
    assert labels == {"a", "= b", "= c", "= d", "e"}
    assert sorted(text.xy[1] for text in ax.texts) == [1, 2, 3, 4, 5]  # no label hides another


def test_ties_of_complete_rankings_are_not_broken():
    ax = plots.consensus([0, 1], [[[0, 1], [1, 0]]])
    assert [tuple(line.get_ydata()) for line in ax.lines] == [(1, 1.5), (2, 1.5)]


def test_lines_of_a_bump_chart_differ_in_colour_or_marker():
    ax = plots.consensus(range(30), parties(30, 2, 2))
    looks = {(line.get_color(), line.get_marker()) for line in ax.lines}
    assert len(looks) == len(ax.lines) == 30


def test_clients_that_were_lost_are_left_out():
    clients = parties(6, 5, 4)
    result = fr.federate(clients, "borda", dropouts=[1], rng=0)
    ax = plots.consensus(result, clients)
    assert texts(ax.get_xticklabels()) == ["consensus", "0", "2", "3", "4"]
    own = own_places([clients[client] for client in (0, 2, 3, 4)])
    drawn = {tuple(line.get_ydata())[1:] for line in ax.lines}
    assert drawn == set(zip(*own, strict=True))


def test_keys_of_a_mapping_name_the_clients():
    clients = dict(zip(["north", "south"], parties(6, 2, 4), strict=True))
    ax = plots.consensus(range(6), clients)
    assert texts(ax.get_xticklabels()) == ["consensus", "north", "south"]


def named_result(clients, roster):
    """A result of clients with names, one of which was lost."""
    return fr.federate(dict(zip(roster, clients, strict=True)), dropouts=[roster[1]], rng=0)


def test_the_roster_names_the_clients_of_a_list():
    clients = parties(6, 5, 4)
    result = named_result(clients, ["north", "lost", "east", "south", "west"])
    ax = plots.consensus(result, clients)
    assert texts(ax.get_xticklabels()) == ["consensus", "north", "east", "south", "west"]


def test_a_mapping_is_matched_with_the_roster_by_name():
    clients = parties(6, 5, 4, phi=1.0)
    roster = ["north", "lost", "east", "south", "west"]
    by_name = dict(reversed(list(zip(roster, clients, strict=True))))
    ax = plots.consensus(named_result(clients, roster), by_name)
    assert texts(ax.get_xticklabels()) == ["consensus", "north", "east", "south", "west"]
    own = own_places([clients[client] for client in (0, 2, 3, 4)])
    assert {tuple(line.get_ydata())[1:] for line in ax.lines} == set(zip(*own, strict=True))


def test_a_name_that_the_roster_lacks_is_refused():
    clients = parties(6, 5, 4)
    roster = ["north", "lost", "east", "south", "west"]
    given = dict(zip([*roster[:4], "wset"], clients, strict=True))
    with pytest.raises(ValueError, match="the result has no client 'wset'; its clients are north"):
        plots.consensus(named_result(clients, roster), given)


def test_items_label_unlabelled_rankings():
    ax = plots.consensus([1, 0], [[[0, 1]]], items=["first", "second"])
    assert texts(ax.get_yticklabels()) == ["second  1", "first  2"]


def test_a_long_label_loses_its_middle():
    ax = plots.consensus([0, 1], [[[0, 1]]], items=["a" * 50 + "1", "a" * 50 + "2"])
    labels = [text.removesuffix(f"  {i}") for i, text in enumerate(texts(ax.get_yticklabels()), 1)]
    assert [(len(label), label[-1]) for label in labels] == [(28, "1"), (28, "2")]


def test_labels_that_differ_in_the_middle_only_are_told_apart():
    items = ["a" * 30 + "x" + "a" * 30, "a" * 30 + "y" + "a" * 30]
    labels = texts(plots.consensus([0, 1], [[[0, 1]]], items=items).get_yticklabels())
    assert len(set(labels)) == 2
    assert ["#0" in labels[0], "#1" in labels[1]] == [True, True]


@pytest.mark.parametrize("n", [1, 2])
def test_one_client_and_few_items_are_drawn(n):
    ax = plots.consensus(range(n), [[range(n)]])
    assert [line.get_ydata().tolist() for line in ax.lines] == [[i, i] for i in range(1, n + 1)]


# The best items


@pytest.mark.parametrize(
    ("n", "clients", "options", "shown"),
    [
        (31, 3, {}, 20),
        (40, 3, {"top": 7}, 7),
        (6, 3, {"top": 4}, 4),
        (6, 3, {"top": 99}, 6),
        (6, 26, {}, 6),
        (30, 26, {}, 30),
    ],
)
def test_the_best_items_are_named_in_order(n, clients, options, shown):
    data = parties(n, clients, 3, items=[f"gene {i}" for i in range(n)])
    found = fr.aggregate(data[0], rng=0)
    ax = plots.consensus(found, data, **options)
    assert texts(ax.get_yticklabels()) == [f"{x}  {i}" for i, x in enumerate(found.top(shown), 1)]
    assert f"(1 = best, {n} = last)" in ax.get_xlabel()
    assert (f"best {shown} of {n} items" in ax.get_ylabel()) == (shown < n)


def test_up_to_8_clients_have_marks_and_names_of_their_own():
    clients = dict(zip("abcdefgh", parties(40, 8, 3, phi=0.97), strict=True))
    found = fr.aggregate(clients["a"], rng=0)
    ax = plots.consensus(found, clients)
    best = found.order[:20]
    own = own_places(clients.values())
    marks = rows(ax)
    for name, ranking in zip(clients, own, strict=True):
        assert marks[name] == [ranking[item] for item in best]
    assert list(range(1, 21)) in marks.values()  # the consensus
    explained = [text.get_text() for text in ax.get_legend().get_texts()]
    assert explained == ["consensus", *clients]
    looks = {(line.get_color(), line.get_marker()) for line in ax.lines}
    assert len(looks) == 9


def test_rows_of_more_clients_show_the_range_and_the_middle_half():
    data = parties(40, 9, 3, phi=0.97)
    found = fr.aggregate(data[0], rng=0)
    ax = plots.consensus(found, data, top=5)
    own = np.array(own_places(data))[:, found.order[:5]]
    whole, half = (
        [segment[:, 0].tolist() for segment in lines.get_segments()] for lines in ax.collections
    )
    assert whole == [[min(column), max(column)] for column in own.T.tolist()]
    # With nine clients, the quartiles are the third and the seventh value.
    assert half == [[column[2], column[6]] for column in np.sort(own.T).tolist()]
    assert sorted(rows(ax)["a client"]) == sorted(own.ravel().tolist())


def test_rows_of_very_many_clients_show_the_middle_90_percent():
    data = parties(40, 41, 1, phi=0.99)
    found = fr.aggregate(data[0], rng=0)
    ax = plots.consensus(found, data, top=5)
    own = np.sort(np.array(own_places(data))[:, found.order[:5]], axis=0)
    drawn = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert drawn == [[column[2], column[38]] for column in own.T.tolist()]
    assert "a client" not in rows(ax)


def test_clients_without_names_are_called_clients():
    ax = plots.consensus(range(40), parties(40, 2, 2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("consensus", "client 0", "client 1")
    ]


def test_partial_rankings_of_many_items_are_drawn():
    ballots = fr.PartialRankings([[0, *[-1] * 39]])  # one choice of 40
    ax = plots.consensus(range(40), {"only": ballots}, top=3)
    assert rows(ax)["only"] == [1, 21, 21]  # places 2 to 40 are tied


def test_a_place_0_is_never_marked():
    for n in (1, 2, 31, 978):
        ax = plots.consensus(range(n), [[range(n)]], top=20)
        assert min(ax.get_xticks()) == 1


# The heat map


@pytest.mark.parametrize(("n", "clients"), [(31, 2), (130, 3), (5, 26)])
def test_cells_of_the_heat_map_are_shares_of_the_rankings(n, clients):
    data = parties(n, clients, 3, phi=0.97)
    found = fr.aggregate(data[0], rng=0)
    mesh = plots.consensus(found, data, top=0).collections[0]
    corners = mesh.get_coordinates()
    x_edges, y_edges = corners[0, :, 0], corners[:, 0, 1]
    pairs = Counter()
    for each in data:
        for ranking in each.ranks.tolist():
            for item in range(n):
                place = int(found.ranks[item]) + 1
                column = sum(edge < place for edge in x_edges) - 1
                row = sum(edge < ranking[item] + 1 - place for edge in y_edges) - 1
                pairs[row, column] += 1
    shares = mesh.get_array().filled(0)
    items = [round(right - left) for left, right in pairwise(x_edges)]
    assert sum(items) == n
    for (row, column), share in np.ndenumerate(shares):
        assert share == pytest.approx(pairs[row, column] / (3 * clients * items[column]))
    assert sum(pairs.values()) == 3 * clients * n
    assert shares.sum(axis=0) == pytest.approx(np.ones(len(items)))


def test_a_heat_map_of_few_items_names_them():
    ax = plots.consensus([1, 0], [[[0, 1]]] * 26, items=["first", "second"], top=0)
    assert texts(ax.get_xticklabels()) == ["second", "first"]
    assert ax.get_xticks().tolist() == [1, 2]


def test_a_place_between_two_cells_is_half_in_each():
    tied = fr.PartialRankings([[0, 0]])  # both items have place 1.5
    shares = plots.consensus([0, 1], [tied], top=0).collections[0].get_array().filled(0)
    assert shares.tolist() == [[0, 0.5], [0.5, 0.5], [0.5, 0]]


def test_shares_of_partial_rankings_add_up():
    rng = np.random.default_rng(0)
    data = [fr.PartialRankings(rng.integers(-1, 9, (5, 300))) for _ in range(3)]
    ax = plots.consensus(range(300), data, top=0)
    shares = ax.collections[0].get_array().filled(0)
    assert shares.sum(axis=0) == pytest.approx(np.ones(shares.shape[1]))
    assert ax.get_xlabel() == "place in the consensus (1 = best)"


def test_the_colour_bar_is_in_percent():
    ax = plots.consensus(range(130), parties(130, 3, 3, phi=0.97), top=0)
    bar = ax.collections[0].colorbar.ax
    bar.figure.canvas.draw()
    shown = [text for text in texts(bar.get_yticklabels()) if text]
    assert shown
    assert all(text.endswith("%") for text in shown)


def test_a_heat_map_of_rankings_that_all_agree_is_drawn():
    ax = plots.consensus(range(40), [[range(40)]] * 2, top=0)
    assert not isinstance(ax.collections[0].norm, LogNorm)
    assert ax.collections[0].get_array().compressed().tolist() == [1.0] * 40


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([0, 1], []), "no clients were given"),
        (([0, 1], [[[0, 1, 2]]]), "ranks 2 items but the clients rank 3"),
        (([[0, 1], [1, 0]], [[[0, 1]]]), "must be one ranking, not 2"),
        (([0, 0], [[[0, 1]]]), "0 is used twice"),
        (([0, 1], [[[0, 1]], [[1, 1]]]), "client 1, row 0: not a ranking"),
    ],
)
def test_a_consensus_that_cannot_be_drawn_is_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        plots.consensus(*arguments)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"items": ["a"]}, "1 label was given for 2 items"),
        ({"top": -1}, "top must be a whole number of at least 0, not -1"),
        ({"top": "all"}, "top must be a whole number of at least 0, not 'all'"),
    ],
)
def test_wrong_options_are_refused_and_leave_no_figure(options, named):
    with pytest.raises(ValueError, match=named):
        plots.consensus([0, 1], [[[0, 1]]], **options)
    assert not plt.get_fignums()


def test_one_rankings_object_is_not_taken_for_many_clients():
    rankings = fr.Rankings([[0, 1], [1, 0]])
    for draw in (plots.agreement, lambda given: plots.consensus([0, 1], given)):
        with pytest.raises(ValueError, match="not one Rankings; put it in a list"):
            draw(rankings)


def test_clients_with_one_name_are_refused():
    with pytest.raises(ValueError, match="two clients have the name '1'"):
        plots.agreement({1: [[0, 1]], "1": [[0, 1]]})


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
        assert columns.tolist() == [[own[name][0][i] + 1 for i in order] for name in shown[1:]]
    with pytest.raises(ValueError, match="3 clients were given for a result of 4"):
        plots.consensus(result, {name: own[name] for name in ("north", "east", "south")})


# Real data


def test_the_best_genes_of_real_tumours_are_drawn():
    luad = realdata.luad()
    found = fr.aggregate(luad, rng=0)
    ax = plots.consensus(found, luad.split(10, rng=0))
    assert texts(ax.get_yticklabels())[0] == f"{found.top(1)[0]}  1"
    assert len(ax.get_yticks()) == 20


def test_real_ballots_with_gaps_are_drawn():
    path = realdata.need("maine", "Maine_06122018_DemocraticPrimaryforGovernor.csv")
    ballots = fr.data.read_ballots(path, complete=False)
    found = fr.aggregate(ballots, rng=0)
    ax = plots.consensus(found, ballots.split(3, rng=0))
    assert len(ax.lines) == ballots.n == 8
    assert plots.agreement(ballots.split(3, rng=0)).images[0].get_array().max() < 0.1
