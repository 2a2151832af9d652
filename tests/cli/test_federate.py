"""``fedrank federate``: files as clients, through the whole protocol."""

import json
import random
from math import ceil, log2

import numpy as np
import pytest

from helpers import reference
from helpers.command import (
    cells,
    in_terminal,
    kemeny_score,
    ranks_of,
    refused,
    run,
    visible,
    write_ranks,
    write_soc,
)
from helpers.paths import SAMPLES

LABELS = ("Ann", "Bob", "Cy", "Dée")
SIZES = {"north": 3, "south": 5, "east": 2, "west": 4, "isle": 1}


def draw(count, seed):
    return [reference.sample(0.6, (1, 3, 0, 2), random.Random(seed + i)) for i in range(count)]


RANKINGS = {name: draw(size, 10 * i) for i, (name, size) in enumerate(SIZES.items())}


def of(*names):
    """Rankings of these clients, one after the other."""
    return [ranking for name in names for ranking in RANKINGS[name]]


@pytest.fixture
def files(tmp_path):
    """One PrefLib file per client; one of them numbers the alternatives the other way round."""
    paths = [write_soc(tmp_path / f"{name}.soc", LABELS, RANKINGS[name]) for name in SIZES]
    back = [tuple(reversed(ranking)) for ranking in RANKINGS["east"]]
    write_soc(tmp_path / "east.soc", tuple(reversed(LABELS)), back)
    return paths


def federate(*arguments):
    done = run("federate", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def check_scores(found, rankings):
    """What is told of the two consensuses is so, by the definitions."""
    consensus = ranks_of(found, LABELS)
    central = tuple(found["central"]["order"].index(label) for label in LABELS)
    assert found["rankings"] == len(rankings)
    assert found["kemeny_score"] == pytest.approx(kemeny_score(consensus, rankings), abs=1e-12)
    told = found["central"]
    assert told["kemeny_score"] == pytest.approx(kemeny_score(central, rankings), abs=1e-12)
    assert told["kendall_distance"] == reference.kendall(consensus, central)


def test_exact_borda_is_central_borda_of_all_files_aligned_by_label(files):
    found = federate(*files, "--send", "sums")
    everyone = of(*SIZES)
    sums = reference.position_sums(everyone)
    assert len(set(sums)) == len(sums)  # no tie to be broken either way
    assert ranks_of(found, LABELS) == reference.borda(everyone)
    assert found["central"]["kendall_distance"] == 0
    scores = {row["item"]: row["score"] for row in found["consensus"]}
    means = [total / len(everyone) for total in sums]
    assert [scores[label] for label in LABELS] == pytest.approx(means, abs=1e-12)
    check_scores(found, everyone)


@pytest.mark.parametrize(
    ("largest", "public"), [(1, 1), (2, 3), (3, 3), (4, 7), (5, 7), (7, 7), (8, 15)]
)
def test_the_public_bound_tells_the_largest_client_only_roughly(tmp_path, largest, public):
    sizes = {"a": 1, "b": 1, "c": largest}
    files = [write_soc(tmp_path / f"{name}.soc", LABELS, draw(m, 0)) for name, m in sizes.items()]
    assert federate(*files, "--send", "sums")["scheme"]["max_samples"] == public
    given = federate(*files, "--send", "sums", "--max-samples", "9")
    assert given["scheme"]["max_samples"] == 9


def test_centroids_of_borda_sum_one_admissible_place_per_client(files):
    found = federate(*files, "--send", "centroids", "--phi", "0.5", "--no-secure")
    places = [reference.borda_places(RANKINGS[name], 0.5) for name in SIZES]
    scores = {row["item"]: row["score"] for row in found["consensus"]}
    expected = [float(each) for each in reference.expected_positions(0.5, 4)]
    for item, label in enumerate(LABELS):
        # Mean levels, and the positions that they stand for.
        least = sum(min(client[item]) for client in places) / len(SIZES)
        most = sum(max(client[item]) for client in places) / len(SIZES)
        low, high = np.interp([least, most], range(4), expected)
        assert low - 1e-9 <= scores[label] <= high + 1e-9
    ordered = [row["score"] for row in found["consensus"]]
    assert ordered == sorted(ordered)
    check_scores(found, of(*SIZES))


@pytest.mark.parametrize("low_bits", [0, 1])
def test_lehmer_decodes_a_digit_that_the_sum_admits(tmp_path, low_bits):
    rankings = draw(5, 70)  # one per client, so that each has one digit to send
    files = [write_soc(tmp_path / f"{i}.soc", LABELS, [r]) for i, r in enumerate(rankings)]
    found = federate(*files, "--method", "lehmer", "--low-bits", low_bits)
    messages = [reference.lehmer_message(reference.encode(r), low_bits) for r in rankings]
    total = [sum(entries) for entries in zip(*messages, strict=True)]
    admitted = reference.lehmer_server(total, 4, low_bits, 5, "nearest")
    digits = reference.encode(ranks_of(found, LABELS))
    assert all(digit in some for digit, some in zip(digits, admitted, strict=True))
    assert found["scheme"]["low_bits"] == low_bits
    check_scores(found, rankings)


def test_masks_change_the_bytes_and_nothing_else(files):
    masked = federate(*files, "--seed", "3")
    bare = federate(*files, "--seed", "3", "--no-secure")
    assert masked["consensus"] == bare["consensus"]
    width = sum(reference.borda_widths(4, 5, 4))  # four levels per place
    assert [client["bytes_sent"] for client in bare["clients"]] == [ceil(width / 8)] * 5
    # Keys 104, shares 552, masked input 40 and the message, shares of five 205.
    assert {client["bytes_sent"] for client in masked["clients"]} == {901 + ceil(width / 8)}
    for client in masked["clients"]:
        assert client["rankings"] == SIZES[client["name"]]
        assert client["bytes_of_rankings"] == ceil(client["rankings"] * 4 * ceil(log2(4)) / 8)
    assert (masked["secure"], masked["threshold"]) == (True, 4)
    assert (bare["secure"], bare["threshold"]) == (False, None)


def test_a_client_that_drops_out_is_named_and_left_out_of_everything(files):
    found = federate(*files, "--send", "sums", "--drop", "south")
    lost = {c["name"]: c["dropped_at"] and c["dropped_at"]["step"] for c in found["clients"]}
    assert lost == dict.fromkeys(SIZES) | {"south": "mask"}
    assert [c["name"] for c in found["clients"] if not c["in_sum"]] == ["south"]
    rest = of("north", "east", "west", "isle")
    sums = reference.position_sums(rest)
    assert len(set(sums)) == len(sums)
    assert ranks_of(found, LABELS) == reference.borda(rest)
    check_scores(found, rest)


@pytest.mark.parametrize("by", ["south:unmask", "south.soc:unmask", "{path}:unmask"])
def test_a_client_lost_after_its_input_is_in_the_sum_whatever_it_is_called(files, by):
    found = federate(*files, "--drop", by.format(path=files[1]))
    south = found["clients"][1]
    assert (south["name"], south["in_sum"], south["dropped_at"]) == (
        "south",
        True,
        {"round": 0, "step": "unmask"},
    )
    check_scores(found, of(*SIZES))


def test_the_same_seed_gives_the_same_but_for_the_time():
    def found(seed):
        document = federate(SAMPLES / "small.toi", "--clients", "3", "--complete", "--seed", seed)
        del document["seconds"]
        return document

    assert found(1) == found(1)
    assert [client["rankings"] for client in found(1)["clients"]] == [2, 2, 2]
    assert len({str(found(seed)["central"]) for seed in range(4)}) > 1


# --- one file of all clients ---


def test_by_makes_precincts_of_a_ballot_sheet():
    found = federate(SAMPLES / "cvr.csv", "--by", "Precinct", "--min-survivors", "1")
    sizes = {client["name"]: client["rankings"] for client in found["clients"]}
    assert sizes == {"Orono": 2, "Bangor": 2}
    assert found["items"] == 3


def test_by_takes_a_column_of_a_plain_table(tmp_path):
    rows = [(*ranking, name) for name in SIZES for ranking in RANKINGS[name]]
    random.Random(0).shuffle(rows)
    file = write_ranks(tmp_path / "all.csv", (*LABELS, "region"), rows)
    found = federate(file, "--by", "region", "--send", "sums")
    assert {c["name"]: c["rankings"] for c in found["clients"]} == SIZES
    assert ranks_of(found, LABELS) == reference.borda(of(*SIZES))
    check_scores(found, of(*SIZES))


def test_users_make_regions_of_sushi():
    found = federate(SAMPLES / "sushi.order", "--users", SAMPLES / "sushi.udata")
    sizes = {client["name"]: client["rankings"] for client in found["clients"]}
    assert sizes == {"region 0": 1, "region 3": 2, "region 9": 1}


def test_candidates_make_ballot_files_agree(tmp_path):
    head = "1st Choice,2nd Choice\n"
    for name, ballots in {"a": "Ann,Bob\n", "b": "Bob,\n", "c": "Cy,Ann\n"}.items():
        (tmp_path / f"{name}.csv").write_text(head + ballots)
    files = sorted(tmp_path.glob("*.csv"))
    names = tmp_path / "names.txt"
    names.write_text("Ann\nBob\nCy\n")
    assert "client 'b' lacks 2 (Ann, Cy)" in refused(run("federate", *files))
    assert federate(*files, "--candidates", names)["items"] == 3


# --- names ---


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path):
    files = []
    for folder in ("x", "y", "z"):
        (tmp_path / folder).mkdir()
        files.append(write_soc(tmp_path / folder / "votes.soc", LABELS, RANKINGS["north"]))
    names = [client["name"] for client in federate(*files)["clients"]]
    assert names == [str(file) for file in files]


# --- tables ---


def test_the_tables_tell_consensus_clients_and_cost(files):
    done = run("federate", *files, "--send", "sums", "--drop", "south")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    rows = cells(done.stdout.splitlines())
    rest = of("north", "east", "west", "isle")
    order = reference.inverse(reference.borda(rest))
    means = [total / len(rest) for total in reference.position_sums(rest)]
    assert rows[:4] == [
        [str(place), LABELS[item], f"{means[item]:.4g}", str(place)]
        for place, item in enumerate(order, start=1)
    ]
    assert [row[:2] for row in rows[4:9]] == [[name, str(size)] for name, size in SIZES.items()]
    facts = {row[0]: row[1:] for row in rows[9:]}
    score = f"{kemeny_score(reference.borda(rest), rest):.8g}"
    assert facts["Kemeny score"] == [score, score]
    assert facts["clients in the sum"][0] == "4 of 5"
    assert facts["dropped out"][0] == "south (at mask)"
    assert facts["most bytes sent per client"][1] == "4 (its rankings)"
    assert facts["time, all parties"][0].endswith(" ms")


@pytest.mark.parametrize("width", [80, 40])
def test_tables_fit_the_terminal(files, width):
    code, shown = in_terminal("federate", *files, width=width)
    assert code == 0, shown
    lines = visible(shown)
    assert max(map(len, lines)) <= width
    rows = cells(lines)
    assert {row[1] for row in rows[:4]} == set(LABELS)
    assert [row[0] for row in rows[4:9]] == list(SIZES)


def test_out_holds_every_place(files, tmp_path):
    out = tmp_path / "consensus.csv"
    out.write_text("old\n" * 100)
    done = run("federate", *files, "--send", "sums", "--out", out)
    assert done.returncode == 0, done.stderr
    lines = [line.split(",") for line in out.read_text(encoding="utf-8").splitlines()]
    order = reference.inverse(reference.borda(of(*SIZES)))
    assert lines[0] == ["place", "item", "score", "tied"]
    expected = [[str(place), LABELS[item]] for place, item in enumerate(order, start=1)]
    assert [line[:2] for line in lines[1:]] == expected
    assert not list(tmp_path.glob(".*"))


def test_kemeny_of_all_pairs_is_a_ranking_of_least_distance(files):
    found = federate(*files, "--method", "kemeny", "--window", "3", "--rounds", "2", "--fit-phi")
    rankings = of(*SIZES)
    check_scores(found, rankings)
    least, _ = reference.kemeny(rankings)
    assert found["kemeny_score"] == pytest.approx(least / (len(rankings) * 4), abs=1e-12)
    assert len(found["rounds"]) >= 3
    assert (found["method"], found["exact"]) == ("federated kemeny", True)
    assert found["phi"]["estimate"] == pytest.approx(
        reference.fit_phi(least / len(rankings), 4), abs=1e-6
    )


def test_kemeny_that_loses_a_client_after_borda_is_called_borda(files):
    # Its input is in Borda's sum, and it is not there for the margins.
    arguments = (*files, "--method", "kemeny", "--drop", "south:unmask")
    found = federate(*arguments)
    assert found["method"] == "federated borda"
    assert "; round 1 (refine) was not opened: " in found["note"]
    assert (found["exact"], found["rounds"]) == (None, ["start", "refine"])
    check_scores(found, of(*SIZES))
    rows = cells(run("federate", *arguments).stdout.splitlines())
    facts = {row[0]: row[1:] for row in rows}
    assert facts["method"] == ["federated borda, masked", "kemeny"]
    assert facts["rounds"][0] == "start, refine"


def test_a_client_can_be_dropped_in_a_later_round(files):
    arguments = (*files, "--method", "kemeny", "--rounds", "1", "--drop", "south:1:mask")
    found = federate(*arguments)
    lost = {c["name"]: c["dropped_at"] for c in found["clients"]}
    assert lost["south"] == {"round": 1, "step": "mask"}
    assert found["method"] == "federated borda"


@pytest.mark.parametrize(
    ("window", "said"), [("1", {"not tested without the number of rankings"}), ("3", {"yes", "no"})]
)
def test_a_proof_that_needs_the_number_of_rankings_is_called_not_tested(files, window, said):
    options = ("--method", "kemeny", "--window", window, "--rounds", "1")
    rows = cells(run("federate", *files, *options, COLUMNS="200").stdout.splitlines())
    facts = {row[0]: row[1:] for row in rows}
    assert facts["proved to be the best"][0] in said


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["north", "south"], "only 2 clients are left; a sum over fewer than min_survivors = 3"),
        (["north"], "north.soc is one client"),
        (["north", "south", "north"], "north.soc is given twice"),
        (["north", "south", "absent"], "absent.soc: there is no such file"),
        (["north", "south", "."], "is a folder"),
        (
            ["north", "south", "other"],
            "'other' lacks 1 (Dée); all clients must rank the same items",
        ),
        (["north", "south", "fewer"], "client 'fewer' lacks 1 (Dée); all clients"),
        (["north", "--clients", "3", "--by", "region"], "give one"),
        (["north", "south", "--clients", "3"], "--clients splits one file, but 2 are given"),
        (["north", "--clients", "4"], "3 rankings cannot be split among 4 clients"),
        (["north", "--clients", "1"], "no others to hide among; add clients, or pass --no-secure"),
        (["north", "--by", "region"], "there is no column 'region'"),
        (["*", "--drop", "nowhere"], "there is no client 'nowhere'; they are north"),
        (["*", "--drop", "south:lunch"], "'lunch' is not a step; the steps are share, mask"),
        (["*", "--drop", "south:1:lunch"], "'lunch' is not a step; the steps are share, mask"),
        (["*", "--drop", "south:1:mask"], "round 1"),
        (["*", "--drop", "south", "--drop", "south.soc:share"], "dropped twice"),
        (
            ["*", "--drop", "south", "--drop", "west"],
            "only 3 masked inputs arrived",
        ),
        (["*", "--threshold", "2"], "threshold must be more than half of the 5 clients"),
        (["*", "--method", "copeland"], "'copeland'"),
        (["*", "--window", "2"], "--window is an option of --method kem"),
        (
            ["*", "--method", "lehmer", "--send", "sums"],
            "--send is an option of --method borda or kemeny, not of --method lehmer",
        ),
        (["*", "--low-bits", "2"], "--low-bits is an option of --method lehmer"),
        (
            ["*", "--method", "lehmer", "--low-bits", "few"],
            "--low-bits must be a whole number from 0 to 31, or \"paper\", not 'few'",
        ),
        (
            ["*", "--method", "lehmer", "--low-bits", "32"],
            "--low-bits must be at most 31, not 32",
        ),
        (
            ["*", "--method", "lehmer", "--low-bits", "paper", "--phi", "0.9"],
            "--phi is too large for the paper's low_bits",
        ),
        (["*", "--choices", "a", "--layout", "ranks"], "--choices is for the layout ballots, not"),
        (
            ["*", "--max-samples", "4"],
            "client 'south': 5 rankings are more than the bound of 4 per client; "
            "pass a larger --max-samples",
        ),
        (["*", "--send", "centroids", "--phi", "nan"], "phi"),
        (["*", "--send", "centroids", "--phi", "1"], "phi must be below 1"),
        (["*", "--send", "all"], "'all'"),
        (["*", "--levels", "0"], "--levels"),
        (
            ["*", "--phi", "0.5"],
            'phi does not apply to send="means"; leave out --phi, or pass --send centroids',
        ),
        (
            ["*", "--send", "sums", "--levels", "4"],
            'levels does not apply to send="sums"; leave out --levels, or pass --send means or '
            "--send weighted",
        ),
        (["*", "--out", "absent/consensus.csv"], "there is no folder"),
        ([], "FILE"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(files, tmp_path, arguments, named):
    write_soc(tmp_path / "other.soc", (*LABELS[:3], "Zed"), RANKINGS["north"])
    write_soc(tmp_path / "fewer.soc", LABELS[:3], [(0, 1, 2)])
    known = {"*": files, ".": [tmp_path]} | {
        name: [tmp_path / f"{name}.soc"] for name in (*SIZES, "absent", "other", "fewer")
    }
    values = [
        value
        for i, word in enumerate(arguments)
        for value in (known.get(word, [word]) if i == 0 or arguments[0] != "*" else [word])
    ]
    out = [] if "--out" in arguments else ["--out", tmp_path / "consensus.csv"]
    before = sorted(tmp_path.rglob("*"))
    assert named in refused(run("federate", *values, *out))
    assert sorted(tmp_path.rglob("*")) == before
