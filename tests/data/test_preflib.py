"""PrefLib files: samples, broken ones, and real ones where they are present."""

import gzip
from collections import Counter

import pytest

from fedrank import _progress, data
from fedrank.data import _blocks
from helpers.paths import SAMPLES
from helpers.realdata import need
from helpers.samples import labelled, sample


def test_preflib_layouts_give_the_same_rankings():
    today, before = (data.read_preflib(SAMPLES / name) for name in ("small.soc", "old.soc"))
    assert today.items == before.items == ("Ann", "Bob: the second", "Cy/Cyril")
    assert today.ranks.tolist() == before.ranks.tolist() == [[1, 2, 0]] * 2 + [[0, 1, 2]]


def test_preflib_names_may_hold_commas_in_the_old_layout():
    assert data.read_preflib(SAMPLES / "old.toc").items == ("Ann", "Bob, jr.", "Cy")


def test_preflib_ties_and_gaps_stay_in_their_places():
    votes = data.read_preflib(SAMPLES / "small.toi", complete=True, rng=3)
    orders = labelled(votes)
    assert votes.ranks.shape == (6, 4)  # the line that counts 0 adds none
    for order in orders[:3]:
        assert (order[0], set(order[1:3]), order[3]) == ("Dée", {"Ann", "Bob"}, "Cy")
    assert [order[0] for order in orders[3:5]] == ["Cy", "Cy"]
    assert (set(orders[5][:2]), orders[5][2:]) == ({"Bob", "Cy"}, ["Ann", "Dée"])


def test_preflib_ballots_of_a_line_are_completed_independently_and_evenly(write):
    text = (SAMPLES / "latin1.soi").read_bytes().replace(b"VOTERS: 1", b"VOTERS: 6000")
    text = text.replace(b"ALTERNATIVES: 2", b"ALTERNATIVES: 4").replace(
        b"\n1: 2", b"\n# ALTERNATIVE NAME 3: c\n# ALTERNATIVE NAME 4: d\n6000: 2"
    )
    votes = data.read_preflib(write("many.soi", text), complete=True, rng=5)
    seen = Counter(map(tuple, votes.ranks.tolist()))
    assert len(seen) == 6  # 3! orders of the unranked
    assert sum((k - 1000) ** 2 / 1000 for k in seen.values()) < 20.5  # chi square, 5 df, p = .001


@pytest.mark.parametrize(
    ("text", "rankings"),
    [
        ("# made up\nann,bob,cy\n1,2,3\n", 1),
        ("# made up: by hand\n\n# NUMBER: 7\nann,bob,cy\n1,2,3\n3,1,2\n", 2),
    ],
)
def test_a_comment_above_a_table_does_not_make_it_preflib(write, text, rankings):
    votes = data.read(write("votes.csv", text))
    assert (votes.items, len(votes)) == (("ann", "bob", "cy"), rankings)


def test_the_header_of_preflib_is_known_without_the_suffix(write):
    text = (SAMPLES / "small.soc").read_text()
    assert data.read(write("votes.txt", text)) == data.read_preflib(SAMPLES / "small.soc")


def test_preflib_rng_decides():
    a, b = (data.read_preflib(SAMPLES / "small.toi", complete=True, rng=7).ranks for _ in range(2))
    assert (a == b).all()


def test_preflib_falls_back_to_latin_1():
    assert data.read_preflib(SAMPLES / "latin1.soi").items == ("Zoë", "E\x85lf")


def test_preflib_reads_windows_lines_and_gzip(write):
    text = (SAMPLES / "small.soc").read_bytes()
    for name, content in ("a.soc", text.replace(b"\n", b"\r\n")), ("a.soc.gz", gzip.compress(text)):
        assert len(data.read(write(name, content))) == 3
    old = gzip.compress((SAMPLES / "old.soc").read_bytes())
    assert len(data.read_preflib(write("old.soc.gz", old))) == 3


def test_preflib_refuses_categories_with_a_reason():
    with pytest.raises(ValueError, match=r"small\.cat: categorical .* do not rank"):
        data.read_preflib(SAMPLES / "small.cat")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("3,1,2", "3,1,1", "line 9: alternative 1 is named twice"),
        ("3,1,2", "3,1,4", r"line 9: alternative 4 is not one of 1\.\.3"),
        ("3,1,2", "3,1,0", r"line 9: alternative 0 is not"),
        ("3,1,2", "3,1", "line 9: alternative 2 is missing.*cut short"),
        ("3,1,2", "3,{1,2}", r"line 9: \{1,2\} is a tie"),
        ("3,1,2", "3,{1,2", "line 9: .* is not an order"),
        ("3,1,2", "3,{},1,2", "line 9: .* an empty set"),
        ("3,1,2", "", "line 9: '' is not an order"),
        ("3,1,2", "Ann,Bob", "line 9: 'Ann,Bob' is not an order"),
        ("2: 3,1,2", "3,1,2", "line 9: '3,1,2' is not of the form"),
        ("2: 3", "-2: 3", "line 9: a count must be a whole number, not '-2'"),
        ("2: 3", "2.5: 3", "not '2.5'"),
        ("2: 3", "5: 3", "announces 3 voters, but the counts sum to 6"),
        ("1: 1,2,3\n", "", "announces 2 different orders, but the file has 1"),
        ("VOTERS: 3", "VOTERS: many", "line 4: NUMBER VOTERS must be a whole number"),
        ("# NUMBER VOTERS: 3\n", "", "lacks '# NUMBER VOTERS:'"),
        ("# ALTERNATIVE NAME 2: Bob: the second\n", "", "does not name alternative 2 of 3"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: 2", "more alternatives than the 2"),
        ("Cy/Cyril", "Ann", "two alternatives are called 'Ann'"),
        ("TYPE: soc", "TYPE: wmd", "the data type is 'wmd'"),
    ],
)
def test_preflib_broken_today(write, old, new, problem):
    text = (SAMPLES / "small.soc").read_text()
    assert old in text
    with pytest.raises(ValueError, match=rf"broken\.soc.*{problem}"):
        data.read_preflib(write("broken.soc", text.replace(old, new)))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("b.soc", "3,3,2\n", "", "line 5: a total|must be three totals|announces"),
        ("b.soc", "2,Bob", "7,Bob", "line 3: '7,Bob: the second' must be '2,'"),
        ("b.soc", "3\n1,", "x\n1,", "line 1: the number of alternatives .* not 'x'"),
        ("b.soc", "3\n1,", "9\n1,", "line 7: the file ends before 9"),
        ("b.soc", "1,1,2,3", "1,1,2", "line 7: alternative 3 is missing"),
        ("b.soc", "3,3,2\n", "3,4,2\n", "announces 4 voters, but the counts sum to 3"),
        ("b.txt", "3", "3", "the data type is 'txt'"),
    ],
)
def test_preflib_broken_before_2022(write, name, old, new, problem):
    text = (SAMPLES / "old.soc").read_text().replace(old, new)
    with pytest.raises(ValueError, match=rf"{name}.*({problem})"):
        data.read_preflib(write(name, text))


def counted(*lines):
    """A PrefLib file of two alternatives, from counts and orders."""
    voters = sum(count for count, _ in lines)
    head = ["# DATA TYPE: toc", "# NUMBER ALTERNATIVES: 2", f"# NUMBER VOTERS: {voters}"]
    names = ["# ALTERNATIVE NAME 1: a", "# ALTERNATIVE NAME 2: b"]
    return "\n".join([*head, *names, *(f"{count}: {order}" for count, order in lines)])


def test_counts_beyond_memory_are_refused_before_any_ballot_is_written_out(write):
    with pytest.raises(ValueError, match=r"900000000 ballots .* at most 134217728 fit .*divide"):
        data.read_preflib(write("six.toc", counted((900_000_000, "1,2"))))


def test_counted_lines_are_written_out_a_block_at_a_time_and_move_a_bar(write, monkeypatch):
    moves = []

    class Bar(_progress.Progress):
        def advance(self, steps=1):
            if self.label == "expanding ballots":
                moves.append(steps)

    monkeypatch.setattr(_blocks, "Progress", Bar)
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 2000)
    votes = data.read_preflib(write("many.toc", counted((1500, "1,2"), (700, "2,1"))))
    assert moves == [1000, 500, 500, 200]
    assert votes.ranks.tolist() == [[0, 1]] * 1500 + [[1, 0]] * 700


def test_a_count_draws_what_as_many_lines_draw(write, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 30)
    together = write("a.toc", counted((50, "{1,2}"), (3, "2,1"), (40, "{1,2}")))
    apart = [(1, "{1,2}")] * 50 + [(1, "2,1")] * 3 + [(1, "{1,2}")] * 40
    found = data.read_preflib(together, complete=True, rng=4)
    assert 20 < found.ranks[:, 0].sum() < 73
    assert found == data.read_preflib(write("b.toc", counted(*apart)), complete=True, rng=4)


def test_preflib_refuses_what_would_not_fit(write):
    text = (SAMPLES / "small.soc").read_text().replace("2: 3", f"{10**12}: 3")
    text = text.replace("VOTERS: 3", f"VOTERS: {10**12 + 1}")
    with pytest.raises(ValueError, match="are too many: at most"):
        data.read_preflib(write("huge.soc", text))


def test_the_last_byte_may_decide_the_encoding(write):
    filler = "".join(f"# NOTE {i}: é\n" for i in range(60_000)).encode()
    text = sample("small.soc").replace(b"# NUMBER VOTERS", filler + b"# NUMBER VOTERS")
    name = b"# ALTERNATIVE NAME 1: Ann"
    assert data.read_preflib(write("a.soc", text.replace(name, name + "é".encode()))).items[0] == (
        "Anné"
    )
    # One byte that is not UTF-8, at the end: all of it is Latin-1.
    mixed = text.replace(name, name + "é".encode()).replace(b"Cy/Cyril", b"Cy\xe9")
    assert data.read_preflib(write("b.soc", mixed)).items == ("AnnÃ©", "Bob: the second", "Cyé")


@pytest.mark.parametrize("name", ["small.soc", "old.soc", "old.toc"])
def test_a_complete_order_cut_anywhere_is_refused(write, name):
    whole, text = data.read(SAMPLES / name, rng=1), sample(name)
    for end in range(len(text.rstrip())):
        with pytest.raises(ValueError, match=name):
            data.read(write(name, text[:end]))
    assert data.read(write(name, text.rstrip()), rng=1).ranks.shape == whole.ranks.shape


@pytest.mark.parametrize(
    ("name", "voters", "n"),
    [
        ("00002-00000006.soi", 436, 5),
        ("00002-00000006.toc", 436, 5),
        ("00004-00000158.soc", 355, 4),
        ("00012-00000001.soc", 30, 11),
        ("00016-00000002.toi", 2527, 5),
        ("old_format_00012-00000001.soc", 30, 11),
    ],
)
def test_real_preflib_agrees_with_its_header(name, voters, n):
    assert data.read_preflib(need("preflib", name), rng=1).ranks.shape == (voters, n)


def test_real_categories_are_refused():
    with pytest.raises(ValueError, match="categorical"):
        data.read(need("preflib", "00059-00000002.cat"))
