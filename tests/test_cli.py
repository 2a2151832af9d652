"""The ``fedrank`` command, run as a process."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

import fedrank

COMMAND = Path(sysconfig.get_path("scripts")) / "fedrank"
SMALL = ["demo", "--items", "12", "--clients", "3", "--samples", "4"]


def run(*arguments, **environment):
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        env=os.environ | plain | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_help_names_the_commands():
    done = run("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "consensus ranking" in done.stdout


def test_help_of_the_demo_names_its_options():
    done = run("demo", "--help")
    assert done.returncode == 0
    for option in ("--items", "--clients", "--samples", "--phi", "--seed", "--picture"):
        assert option in done.stdout


def test_version_is_the_packages():
    done = run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"fedrank {fedrank.__version__}")


def test_no_command_shows_the_help():
    done = run()
    assert done.returncode == 2
    assert "demo" in done.stdout + done.stderr


def test_demo_ends_with_a_table():
    done = run(*SMALL)
    assert done.returncode == 0, done.stderr
    assert "12 rankings of 12 items" in done.stdout
    for method in ("borda", "lehmer", "pick", "pivot", "footrule", "kemeny"):
        assert method in done.stdout
    assert "best by kemeny: gene-" in done.stdout


def test_demo_repeats_itself_but_for_the_times():
    def table(seed):
        lines = run(*SMALL, "--phi", "0.9", "--seed", seed).stdout.splitlines()
        return [line.rsplit("│", 2)[0] for line in lines if " ms" in line and "│" in line] + lines[
            -1:
        ]

    assert table(5) == table(5)
    assert table(5) != table(6)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_demo_draws_a_picture_and_makes_its_folder(tmp_path, suffix):
    picture = tmp_path / "new" / "folder" / f"demo.{suffix}"
    done = run(*SMALL, "--picture", picture)
    assert done.returncode == 0, done.stderr
    assert str(picture) in done.stdout
    start = {"png": b"\x89PNG", "svg": b"<?xml"}[suffix]
    assert picture.read_bytes().startswith(start)


def test_demo_takes_the_smallest_sizes_and_phi_0(tmp_path):
    sizes = ["--items", "1", "--clients", "1", "--samples", "1"]
    done = run("demo", *sizes, "--phi", "0", "--picture", tmp_path / "one.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.png").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--items", "0"),
        ("--items", "many"),
        ("--clients", "0"),
        ("--samples", "-1"),
        ("--phi", "1.5"),
        ("--phi", "nan"),
        ("--seed", "-1"),
    ],
)
def test_a_bad_value_exits_2_and_one_line_names_the_option(option, value):
    done = run(*SMALL, option, value)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert option in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_option_exits_2_and_is_named():
    done = run("demo", "--colour", "red")
    assert done.returncode == 2
    assert "--colour" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_kind_of_picture_exits_2_before_any_work(tmp_path):
    done = run(*SMALL, "--picture", tmp_path / "demo.xyz")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "xyz" in done.stderr
    assert "kemeny" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_written_exits_2(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = run(*SMALL, "--picture", tmp_path / "file" / "demo.png")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "demo.png" in done.stderr or "file" in done.stderr


def test_an_interpreter_without_matplotlib_is_told_what_to_install(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('no matplotlib')")
    done = run(*SMALL, "--picture", tmp_path / "demo.png", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "pip install 'fedrank[plot]'" in done.stderr
    assert done.stdout == ""
