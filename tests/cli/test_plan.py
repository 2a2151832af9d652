"""``fedrank plan``: the plan beside theory and bits, and what is refused."""

import json

import matplotlib.pyplot as plt
import pytest

import fedrank as fr
from helpers.command import cells, in_terminal, refused, run, visible

ASKED = ["--items", "5", "--clients", "4", "--phi", "0.4"]


def test_plan_stands_beside_theory_and_bits():
    done = run("plan", *ASKED, "--method", "all", "--seed", "3")
    assert done.returncode == 0
    rows = {row[0]: row[1:] for row in cells(done.stdout.splitlines())}
    for method in ("borda", "lehmer"):
        found = fr.plan(method, n=5, phi=0.4, clients=4, rng=3)
        proved = fr.theory.samples(method, 5, 0.4, 0.05, 4).proved
        assert rows[method][:2] == ["0.4", f"{found.samples:,}"]
        assert rows[method][3] == f"{proved:,}"
    assert rows["Borda"] == ["35", "5"]  # 5 entries of 0..64
    assert rows["Borda of the paper"] == ["25", "4"]  # 5 entries of 0..16
    assert rows["Lehmer, nearest"] == ["16", "2"]  # digits up to 4, 8, 12 and 16


def test_plan_in_json():
    done = run("plan", *ASKED, "--json", "--seed", "3")
    told = json.loads(done.stdout)
    found = fr.plan("borda", n=5, phi=0.4, clients=4, rng=3)
    assert (told["samples"], told["message_bits"]) == (found.samples, found.message_bits)
    assert told["points"][0]["samples"] == 1
    assert told["theory"]["theorem"] == 2
    assert told["bits"]["Borda"] == 35
    assert told["estimated_seconds"] > 0


def test_unknown_phi_gives_a_table():
    done = run("plan", "--items", "3", "--clients", "4", "--json")
    told = json.loads(done.stdout)
    assert [each["phi"] for each in told] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert all(each["samples"] for each in told)


def test_where_no_theorem_applies_the_table_says_so():
    done = run(
        "plan",
        "--items",
        "4",
        "--clients",
        "4",
        "--phi",
        "0.8",
        "--method",
        "lehmer",
        "--limit",
        "16",
    )
    rows = {row[0]: row[1:] for row in cells(done.stdout.splitlines())}
    assert rows["lehmer"][3] == "none applies"


def test_theorems_are_not_on_distance():
    done = run("plan", *ASKED, "--distance", "1", "--json")
    told = json.loads(done.stdout)
    assert told["samples"] == fr.plan("borda", n=5, phi=0.4, clients=4, distance=1, rng=0).samples
    assert told["theory"]["proved"] is None
    assert (told["distance"], told["delta"]) == (1, None)


def test_plan_draws_its_picture(tmp_path):
    before = plt.get_fignums()
    done = run("plan", *ASKED, "--picture", tmp_path / "plan.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "plan.png").read_bytes()[1:4] == b"PNG"
    assert plt.get_fignums() == before


def test_one_item_and_one_client_are_singular():
    shown = run("plan", "--items", "1", "--clients", "1", "--phi", "0.5").stdout
    assert " 1 item, 1 client: the true order with probability 0.95" in shown


def test_plan_fits_a_terminal():
    code, shown = in_terminal("plan", *ASKED, width=80)
    assert code == 0
    assert max(map(len, visible(shown))) <= 80


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--delta", "2"], "--delta must be above 0 and below 1, not 2"),
        (["--phi", "1.5"], "--phi must be in [0, 1], not 1.5"),
        (["--distance", "0"], "--distance must be a number above 0, not 0"),
        (["--method", "pivot"], "'pivot'"),
        (["--distance", "1", "--delta", "0"], "--delta does not apply to a mean distance"),
        (["--distance", "1", "--delta", "0.05"], "leave out one of the two"),
        (["--picture", "plan.gif"], "plan.gif: the name of a picture must end in"),
    ],
)
def test_bad_plans_are_refused_in_one_line(arguments, named):
    assert named in refused(run("plan", *ASKED, *arguments))
