"""Rankings say what they were read from, wherever they go."""

import copy
import pickle

import pytest

from fedrank import PartialRankings, Rankings, aggregate, data, federate
from fedrank.rankings import Note, Source
from fedrank.rankings.partial import as_partial
from helpers.paths import SAMPLES

READ = Source(("a/votes.csv",), 3, 2, "ranks", "ranks, 1 = best")


@pytest.fixture
def votes():
    return data.read(SAMPLES / "small.toi")


def test_rankings_that_were_not_read_have_no_source():
    assert Rankings([[0, 1]]).source is None
    assert PartialRankings([[0, 0]]).source is None
    assert PartialRankings([[0, 0]]).complete(rng=1).source is None


def test_copies_keep_the_source(votes):
    line = "small.toi: 6 rankings of 4 items (orders, best first)"
    assert str(votes.source) == line
    kept = [
        votes[:],
        votes.align(sorted(votes.items, reverse=True)),
        PartialRankings(votes),
        pickle.loads(pickle.dumps(votes)),
        copy.deepcopy(votes),
        as_partial(votes),
    ]
    assert {str(each.source) for each in kept} == {line}
    complete = data.read(SAMPLES / "small.soc")
    assert as_partial(complete).source == Rankings(complete).source == complete.source


def test_a_part_says_how_many_of_the_rankings_it_has(votes):
    line = "small.toi: 6 rankings of 4 items (orders, best first; 2 of its 6 rankings used)"
    parts = [votes[:2], votes[[0, 3]], *votes.split(3, rng=0), votes[:4][1:3]]
    assert {str(each.source) for each in parts} == {line}
    assert str(aggregate(votes[:2]).source) == line
    assert str(votes.twins().source).endswith("; 12 rankings used: 6 repeated)")


def test_rankings_that_are_joined_twice_are_counted(votes):
    line = "small.toi: 6 rankings of 4 items (orders, best first{})"
    assert str(Rankings.concat([votes[:2], votes[2:]]).source) == line.format("")
    twice = "; 12 rankings used: 6 repeated"
    assert str(Rankings.concat([votes, votes]).source) == line.format(twice)
    again = [data.read(SAMPLES / "small.toi") for _ in range(3)]
    thrice = line.format("; 18 rankings used: 12 repeated")
    assert str(federate(again, rng=0).source) == thrice
    joined = Rankings.concat([Rankings.concat([votes[:2]]), votes[2:4]])
    assert str(joined.source) == line.format("; 4 of its 6 rankings used")


def test_repeated_rankings_of_one_file_do_not_hide_those_left_out_of_another(votes):
    other = data.read(SAMPLES / "small.toi")
    other._source = Source(("b.toi",), 6, 4, "orders", "orders, best first")
    joined = Rankings.concat([votes, votes, other[:3]])
    assert str(joined.source) == (
        "2 files: 12 rankings of 4 items (orders, best first; 15 rankings used: 6 repeated, 3 not "
        "used)"
    )
    assert str(Rankings.concat([votes, other[:3]]).source).endswith(
        "; 9 of their 12 rankings used)"
    )


def test_completing_is_counted_once_for_parts_of_one_reading(votes):
    parts = votes.complete(rng=1).split(3, rng=0)
    assert Rankings.concat(parts).source == votes.complete(rng=1).source


def test_rankings_without_a_file_are_counted(votes):
    bare = PartialRankings(votes.ranks[:3], items=votes.items)
    both = Rankings.concat([votes, bare])
    more = "small.toi: 6 rankings of 4 items (orders, best first; 3 rankings more without a file{})"
    assert str(both.source) == more.format("")
    assert str(both[:2].source) == more.format("; 2 of these 9 rankings used")
    assert str(Rankings.concat(both.split(3, rng=0)).source) == more.format("")
    assert str(Rankings.concat([bare, both]).source) == more.format("").replace("3 r", "6 r")


def test_equality_ignores_the_source():
    read = data.read(SAMPLES / "ranks.csv")
    assert read == Rankings([[0, 1, 2], [2, 0, 1]], items=read.items)


def test_completing_at_random_is_counted_where_chance_decides(votes):
    # Three of 4,{1,2},3; two of 3 alone; one of {2,3},1.
    assert votes.complete(rng=1).source.completed == 6
    assert votes[:3].complete(rng=1).source.completed == 3
    one_gap = PartialRankings._trusted(PartialRankings([[0, 1, -1]]).ranks, None, READ)
    assert one_gap.complete(rng=1).source.completed == 0  # the last place is certain


def test_a_line_has_its_parts_in_order():
    source = Source(
        files=("a/votes.csv",),
        rankings=45_357,
        items=4,
        kind="ranks",
        how="ranks, 1 = best",
        skipped=("id",),
        notes=(Note(5488, "blank ballot", "{} left out"),),
    )
    assert str(source) == (
        "votes.csv: 45,357 rankings of 4 items (ranks, 1 = best; column id skipped; "
        "5,488 blank ballots left out)"
    )


def test_files_merge_and_parts_of_one_file_count_once(votes):
    other = Source(("b/votes.csv",), 4, 2, "ranks", "ranks, 1 = best")
    blank = Source(("c.csv",), 4, 2, "ranks", "ranks, 0 = best", notes=READ.notes)
    both = Source.merge([(READ, 3), (other, 4)])
    assert str(both) == "2 files: 7 rankings of 2 items (ranks, 1 = best)"
    assert Source.merge([(READ, 3), (blank, 4)]).how == "ranks, 1 = best or ranks, 0 = best"
    assert Source.merge([(None, 2)]) is None
    assert Source.merge([]) is None
    parts = votes.split(3, rng=0)
    assert Rankings.concat(parts).source == votes.source
    completed = Rankings.concat(part.complete(rng=1) for part in parts)
    assert completed.source == votes.complete(rng=1).source


def test_notes_of_several_files_add_up():
    notes = [Note(3, "blank ballot", "{} left out"), Note(2, "overvote", "{} dropped")]
    sources = [
        Source((name,), 5, 3, "ballots", "ballots, best first", notes=tuple(notes[:k]))
        for k, name in enumerate(("x", "y", "z"))
    ]
    assert str(Source.merge((source, 5) for source in sources)) == (
        "3 files: 15 rankings of 3 items (ballots, best first; 6 blank ballots left out; "
        "2 overvotes dropped)"
    )
