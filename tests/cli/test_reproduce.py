"""``fedrank reproduce``: tables, pictures, and what it refuses."""

import json

from helpers.command import refused, run


def test_reproduce_makes_what_it_says(tmp_path):
    done = run("reproduce", "bins", "--out", tmp_path, "--repetitions", "10", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (told,) = json.loads(done.stdout)
    assert told["table"] == str(tmp_path / "bins.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bins.csv", "bins.png", "bins.svg"]


def test_reproduce_lists_its_figures():
    done = run("reproduce", "--list", "--json")
    titles = json.loads(done.stdout)
    assert {"bins", "sushi", "jester", "luad", "lusc", "maine"} <= set(titles)
    assert sum(name.startswith("synthetic") for name in titles) == 12


def test_reproduce_says_how_to_get_data(tmp_path):
    done = run("reproduce", "maine", "--out", tmp_path / "out", "--data", tmp_path)
    assert "'fedrank data fetch maine'" in refused(done)
    passed = run("reproduce", "real", "--out", tmp_path / "out", "--data", tmp_path)
    assert passed.returncode == 0
    assert passed.stdout.count("was skipped") == 5


def test_reproduce_refuses_what_it_does_not_know(tmp_path):
    message = refused(run("reproduce", "fig9", "--out", tmp_path))
    assert message == (
        "fedrank: there is no figure 'fig9'; 'fedrank reproduce --list' lists all names\n"
    )
    message = refused(run("reproduce", "bin", "--data", tmp_path / "none"))
    assert message.startswith("fedrank: there is no figure 'bin', but there is bins; ")
    message = refused(run("reproduce", "bins", "--data", tmp_path / "none"))
    assert message.startswith("fedrank: --data must be the folder of the data sets, but there is ")


def test_the_list_has_the_groups_too():
    listed = run("reproduce", "--list").stdout
    assert listed.endswith("groups: all, synthetic, real, beyond\n")
