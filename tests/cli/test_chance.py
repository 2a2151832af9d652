"""Every command says which places chance decided: in tables, in a terminal and in JSON."""

import json
import re

import pytest

import fedrank
from helpers.command import cells, in_terminal, run, visible, write_ranks

TOWNS = ["Golden", "Maine", "Ames", "St. Clair"]
WINNERS = [(0, 2, 3, 1), (1, 2, 3, 0)]  # Golden and St. Clair are tied
MIDDLE = [(0, 2, 3, 1), (0, 1, 3, 2)]
SAID = r"places 1 and 2 were decided by lot: (Golden, St\. Clair|St\. Clair, Golden)"


@pytest.fixture
def tied(tmp_path):
    return write_ranks(tmp_path / "votes.csv", TOWNS, WINNERS)


def commands(file):
    exact = ("--send", "sums", "--min-survivors", "1", "--clients", "2")
    return [
        ("aggregate", file),
        ("aggregate", file, "--method", "kemeny"),
        ("federate", file, *exact),
    ]


def test_a_winner_by_lot_is_said_in_every_table(tied):
    for command in commands(tied):
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, "")
        assert "! 1 tie broken at random\n" in done.stdout
        assert re.search(f"! {SAID}\n", done.stdout)
        code, shown = in_terminal(*command, width=80)
        assert code == 0
        assert re.search(SAID, " ".join(visible(shown)))


# An item that is first in every ranking: its column may also number them.
DECLARED = ("--layout", "ranks", "--items-in", "columns")


def test_json_has_the_ties_and_the_sentences(tied):
    for command in commands(tied):
        found = json.loads(run(*command, "--json").stdout)
        assert [sorted(group) for group in found["tied_groups"]] == [["Golden", "St. Clair"]]
        assert found["ties"] == 1  # as the first sentence says
        assert re.fullmatch(SAID, found["chance"][1])
        assert [row["tied"] for row in found["consensus"]] == [1, 1, None, None]
        assert [row["place"] for row in found["consensus"]] == [1, 2, 3, 4]


def test_items_that_rounding_may_have_tied_are_named_with_the_option_that_helps(tmp_path):
    file = write_ranks(tmp_path / "votes.csv", TOWNS, WINNERS * 3)
    command = ("federate", file, "--clients", "3", "--levels", "1", "--seed", "1")
    said = (
        "mean positions were rounded, so items closer than 0.33 of a place may tie: {}; "
        "fedrank federate --send sums tells them apart unless their means are equal"
    )
    found = json.loads(run(*command, "--json").stdout)
    names = ", ".join(found["tied_groups"][0])
    assert said.format(names) in found["chance"]
    assert f"! {said.format(names)}" in " ".join(run(*command).stdout.split())
    exact = json.loads(run(*command[:4], "--send", "sums", "--json").stdout)
    assert not any("rounded" in sentence for sentence in exact["chance"])


def test_ties_by_item_number_are_not_called_chance(tied):
    shown = run("aggregate", tied, "--ties", "index").stdout
    assert "! places 1 and 2 were decided by item number: Golden, St. Clair\n" in shown
    assert "by lot" not in shown


def test_a_tie_at_the_end_of_the_table_is_said(tmp_path):
    file = write_ranks(tmp_path / "votes.csv", TOWNS, MIDDLE)
    two, three = (run("aggregate", file, *DECLARED, "--top", top).stdout for top in "23")
    assert "places 2 and 3 were decided by lot" in two
    assert "by lot" not in three
    assert "1 tie broken at random" in three


def test_no_ties_no_words(tmp_path):
    file = write_ranks(tmp_path / "votes.csv", TOWNS, [(0, 1, 2, 3)] * 2)
    shown = run("aggregate", file, *DECLARED).stdout
    assert "Consensus" in shown
    assert "!" not in shown
    found = json.loads(run("aggregate", file, *DECLARED, "--json").stdout)
    assert (found["ties"], found["tied_groups"], found["chance"]) == (0, [], [])


def test_footrule_says_that_it_does_not_know(tied):
    assert (
        "! this method does not report ties"
        in run("aggregate", tied, "--method", "footrule").stdout
    )
    found = json.loads(run("aggregate", tied, "--method", "footrule", "--json").stdout)
    assert (found["ties"], found["tied_groups"]) == (None, None)


def test_the_table_counts_the_ties_that_the_sentence_counts(tmp_path):
    file = write_ranks(tmp_path / "votes.csv", TOWNS, [(0, 1, 2, 3), (3, 2, 1, 0)])
    shown = run("aggregate", file).stdout
    assert "! 1 tie broken at random\n" in shown
    assert re.search(r"ties broken at random\W+1\b", shown)


def test_a_cycle_of_majorities_is_said(tmp_path):
    cycle = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    file = write_ranks(tmp_path / "votes.csv", TOWNS[:3], cycle * 2)
    solved = run("aggregate", file, "--method", "kemeny").stdout
    assert "! places 1 to 3 were decided by lot" in solved
    pivots = run("aggregate", file, "--method", "pivot").stdout
    assert "! pivots are drawn at random: another seed may order places 1 to 3" in pivots


def test_the_central_consensus_follows_the_labels_even_if_the_first_client_is_lost(tmp_path):
    for name, labels in {"a": "xyz", "b": "zyx", "c": "zyx", "d": "yxz"}.items():
        places = [tuple("xyz".index(label) for label in labels)] * 2  # x, then y, then z
        write_ranks(tmp_path / f"{name}.csv", list(labels), places)
    files = sorted(tmp_path.glob("*.csv"))
    done = run("federate", *files, *DECLARED, "--send", "sums", "--drop", "a", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["item"] for row in found["consensus"]] == ["x", "y", "z"]
    assert found["central"]["order"] == ["x", "y", "z"]
    assert found["central"]["kendall_distance"] == 0
    assert [client["name"] for client in found["clients"]] == ["a", "b", "c", "d"]


def test_of_many_clients_twenty_are_shown(tmp_path):
    votes = fedrank.Mallows(0.5, n=3).sample(25, rng=0).ranks.tolist()
    file = write_ranks(tmp_path / "votes.csv", ("ann", "bob", "cy"), votes)
    rows = cells(run("federate", file, "--clients", "25").stdout.splitlines())
    names = [row[0] for row in rows]
    assert names[names.index("0") :][:21] == [*map(str, range(20)), "… 5 more"]


def test_a_refinement_that_was_not_carried_out_is_said_in_one_loud_line(tmp_path):
    votes = fedrank.Mallows(0.5, n=4).sample(12, rng=0).ranks.tolist()
    file = write_ranks(tmp_path / "votes.csv", TOWNS, votes)
    command = ("federate", file, "--clients", "4", "--method", "kemeny", "--drop", "3:unmask")
    said = "this is the Borda consensus of the first round, not a Kemeny consensus"
    assert f"\n! {said}: nothing was refined\n" in run(*command).stdout
    told = json.loads(run(*command, "--json").stdout)
    assert told["note"].startswith(f"{said}: nothing was refined; round 1 (refine) was not opened")
    assert told["chance"][0].startswith(said)
    assert said not in run(*command[:-2]).stdout


def test_a_winner_that_clients_drew_is_said(tmp_path):
    files = [
        write_ranks(tmp_path / f"{name}.csv", TOWNS[:2], [(0, 1), (1, 0)] * 3) for name in "abc"
    ]
    done = run("federate", *files, *DECLARED, "--send", "centroids")
    assert done.returncode == 0, done.stderr
    said = "! the messages of 3 clients depended on ties that they broke at random: another seed "
    assert said in done.stdout
