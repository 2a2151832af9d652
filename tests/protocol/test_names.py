"""Clients have names: in results, dropouts, faults and messages."""

import copy
import pickle

import pytest

from fedrank import Borda, Consensus, Rankings, aggregate, federate
from fedrank.data import read
from fedrank.exceptions import InputError
from fedrank.protocol.result import summary
from helpers.paths import SAMPLES

VOTES = Rankings([[0, 1, 2], [1, 0, 2]], items="abc")
NORTH = ["north", "east", "south", "west"]


def named(**options):
    return federate(dict.fromkeys(NORTH, VOTES), rng=0, **options)


def test_names_are_the_roster_and_the_result_uses_them():
    found = named(dropouts={"east": "mask"})
    assert found.clients == found.study.roster == tuple(NORTH)
    assert found.survivors == ["north", "south", "west"]
    assert found.dropped == {"east": "mask"}
    assert found.reasons == {"east": "vanished"}
    assert found.in_sum.tolist() == [True, False, True, True]
    assert found.rounds[0].survivors == found.survivors
    assert [client["name"] for client in summary(found)["clients"]] == NORTH
    assert [client["in_sum"] for client in summary(found)["clients"]] == [True, False, True, True]


def test_a_list_has_numbers():
    found = federate([VOTES] * 4, rng=0, dropouts=[1])
    assert found.clients == (0, 1, 2, 3)
    assert (found.survivors, found.dropped) == ([0, 2, 3], {1: "mask"})


def test_names_that_are_numbers_are_names():
    found = federate(dict.fromkeys("012", VOTES), rng=0)
    assert found.clients == ("0", "1", "2")
    assert found.survivors == ["0", "1", "2"]
    assert Consensus.from_json(found.to_json()) == found
    assert Consensus.from_json(found.to_json()).clients == found.clients
    numbered = federate([VOTES] * 3, rng=0)
    assert Consensus.from_json(numbered.to_json()).clients == (0, 1, 2)
    assert numbered.study == found.study


@pytest.mark.parametrize("method", ["borda", "lehmer", "kemeny"])
def test_results_can_be_pickled_and_copied(method):
    found = named(method=method, fit_phi=True)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert again == found
        assert (again.study, again.clients) == (found.study, found.clients)
        assert repr(again) == repr(found)


def test_names_change_nothing_but_names():
    one, other = named(), federate([VOTES] * 4, rng=0)
    assert one.ranks.tolist() == other.ranks.tolist()
    assert one.bytes_up.tolist() == other.bytes_up.tolist()


def test_dropouts_of_later_rounds_have_names():
    clients = dict(
        zip(NORTH, [[[0, 1, 2, 3]], [[1, 0, 2, 3]], [[3, 2, 1, 0]], [[2, 0, 1, 3]]], strict=True)
    )
    found = federate(clients, "kemeny", rng=0, window=1, dropouts={"west": (1, "mask")})
    assert found.dropped == {"west": (1, "mask")}
    assert "round 1 (refine) was not opened" in found.note
    assert [each.survivors for each in found.rounds] == [NORTH, []]


@pytest.mark.parametrize("dropouts", [["up"], {"up": "mask"}, [0], [True]])
def test_dropouts_that_are_no_clients_are_refused(dropouts):
    with pytest.raises(InputError, match="is not a client: the clients are north, east"):
        named(dropouts=dropouts)


@pytest.mark.parametrize(
    ("clients", "message"),
    [
        ({1: VOTES, 2: VOTES}, "names of clients must be text, not 1; write '1', or pass a list"),
        ({}, "no clients"),
        ({"north": VOTES, "east": [[0, 0]]}, "client 'east', row 0: not a ranking"),
        ({"north": VOTES, "east": VOTES[:0]}, "client 'east': there are no rankings"),
        ({"north": VOTES, "east": [[0, 1, 2]]}, "client 'east' has no item labels"),
        (VOTES, r"not one Rankings; Rankings\.split deals"),
    ],
)
def test_errors_name_the_client(clients, message):
    with pytest.raises(InputError, match=message):
        federate(clients)


def test_a_bound_that_is_too_low_names_the_client():
    with pytest.raises(InputError, match="client 'west': 2 rankings are more than the bound of 1"):
        federate({"north": VOTES[:1], "east": VOTES[:1], "west": VOTES}, max_samples=1)


@pytest.fixture
def sourced(tmp_path):
    """Read rankings from a file with this name."""

    def read_file(name):
        file = tmp_path / name
        file.write_text("a,b,c\n1,2,3\n3,1,2\n")
        return read(file)

    return read_file


def test_sources_are_kept(sourced):
    line = "{}: 2 rankings of 3 items (ranks, 1 = best)"
    one, other = sourced("a.csv"), sourced("b.csv")
    assert str(aggregate(one).source) == line.format("a.csv")
    assert aggregate(VOTES).source is None
    alike = federate([one] * 3, rng=0)
    repeated = "a.csv: 2 rankings of 3 items (ranks, 1 = best; 6 rankings used: 4 repeated)"
    assert (str(alike.source), alike.sources) == (repeated, None)
    both = federate([one, other[:1], other[1:]], rng=0)
    assert str(both.source) == "2 files: 4 rankings of 3 items (ranks, 1 = best)"
    apart = federate([one, other, VOTES], rng=0)
    lines = (line.format("a.csv"), line.format("b.csv"), None)
    assert tuple(each and str(each) for each in apart.sources) == lines
    assert type(apart).from_json(apart.to_json()).sources == lines
    fewer = other.select(["a", "b"])
    joined = Rankings.concat([fewer[:1], fewer[1:]])
    assert str(joined.source) == "b.csv: 2 rankings of 3 items (ranks, 1 = best; 1 item left out)"
    plain = federate([VOTES] * 3, rng=0)
    assert (plain.source, plain.sources) == (None, None)


def test_the_source_counts_the_clients_in_the_sum(sourced):
    one, other = sourced("a.csv"), sourced("b.csv")
    lost = federate(
        {"x": one, "y": one[:1], "z": other}, secure=False, dropouts=["x"], rng=0, min_survivors=1
    )
    assert str(lost.source) == (
        "2 files: 4 rankings of 3 items (ranks, 1 = best; 3 of their 4 rankings used)"
    )


def test_what_was_read_is_shown_with_the_result(sourced):
    one, other = sourced("a.csv"), sourced("b.csv")
    line = "a.csv: 2 rankings of 3 items (ranks, 1 = best)"
    assert repr(aggregate(one)).split("\n")[1].strip() == line
    for result in (
        both := federate([one, other, VOTES], rng=0),
        type(both).from_json(both.to_json()),
    ):
        line = "2 files: 4 rankings of 3 items (ranks, 1 = best; 2 rankings more without a file)"
        assert repr(result).split("\n")[1].strip() == line
        assert f"<p>{line}</p>" in result._repr_html_()


def test_completing_at_random_is_shown_with_the_result():
    partial = read(SAMPLES / "small.toi", complete=True, rng=0)
    assert "ties and gaps of 6 rankings completed at random" in repr(aggregate(partial))


@pytest.mark.parametrize("method", ["borda", Borda(2, 3)])
def test_the_base_belongs_to_the_rankings_of_a_client(method):
    with pytest.raises(
        InputError, match=r"federate has no option 'base'; .*Rankings\(ranks, base=1"
    ):
        federate([[[1, 2]]] * 3, method, base=1)
