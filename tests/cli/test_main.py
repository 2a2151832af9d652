"""What all commands share: help texts, suggestions, Ctrl-C and the progress line."""

import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
import typer

from fedrank import Borda, Study
from fedrank.cli import app
from helpers.command import in_terminal, refused, run, run_process, visible
from helpers.paths import SAMPLES

TAG = re.compile(r"(?<!\\)\[[a-z#/@][^\[\]]*\]")  # what Rich would take for markup, and swallow
ESCAPED = re.compile(r"\\(\[[^\[\]]+\])")


def commands(command, path=()):
    """Every command and group, with the words that call it."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


PLAN = ("--items", "3", "--clients", "3")
COMMANDS = dict(commands(typer.main.get_command(app)))


def helps(command):
    """The help texts of a command, as they are in the source."""
    return [command.help or "", *(getattr(option, "help", None) or "" for option in command.params)]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_brackets_in_help_texts_are_shown(path):
    texts = helps(COMMANDS[path])
    assert [TAG.findall(text) for text in texts if TAG.search(text)] == []
    shown = " ".join(run(*path, "--help", COLUMNS="200").stdout.split())
    for text in texts:
        for bracket in ESCAPED.findall(text):
            assert bracket in shown, f"{bracket} of {text!r}"
    assert "\\[" not in shown


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_line_of_a_commands_description_breaks_at_80_columns(path):
    lines = inspect.cleandoc(COMMANDS[path].help).splitlines()
    assert [line for line in lines if len(line) > 78] == []
    shown = [line.strip() for line in run(*path, "--help", COLUMNS="80").stdout.splitlines()]
    assert [line for line in lines if ESCAPED.sub(r"\1", line).strip() not in shown] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_of_an_argument_is_shown(path):
    # Read from the source, since newer versions of click drop it from the argument itself.
    function = getattr(COMMANDS[path].callback, "__wrapped__", COMMANDS[path].callback)
    hints = get_type_hints(function, include_extras=True).values() if function else ()
    given = [extra for hint in hints for extra in getattr(hint, "__metadata__", ())]
    texts = [extra.help for extra in given if isinstance(extra, typer.models.ArgumentInfo)]
    shown = run(*path, "--help", COLUMNS="100").stdout
    words = " ".join(re.sub("[│╭╮╰╯─]", " ", shown).split())
    assert [text for text in texts if text not in words] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", *PLAN, "--phi", "nan"], "--phi must be in [0, 1], not nan"),
        (["plan", *PLAN, "--delta", "0.00001"], "--delta must be at least 0.0001 to be simulated"),
        (["plan", *PLAN, "--distance", "-1"], "--distance must be a number above 0, not -1.0"),
        (["plan", *PLAN, "--limit", "2000000"], "--limit must be at most 1048576, not 2000000"),
        (["plan", "--items", "99999999", "--clients", "3"], "--items must be at most 16777216"),
        (["federate", "FILE", "--clients", "3", "--threshold", "1"], "--threshold must be more"),
        (
            ["federate", "FILE", "--clients", "3", "--send", "centroids", "--phi", "nan"],
            "--phi must be in [0, 1]",
        ),
        (["federate", "FILE", "--clients", "3", "--phi", "0.5"], "--phi does not apply"),
        (["federate", "FILE", "--clients", "30000000"], "6 rankings cannot be split"),
        (["demo", "--phi", "nan"], "--phi must be in [0, 1], not nan"),
        (["aggregate", "FILE", "--layout", "orders", "--best", "low"], "--best is for the layouts"),
    ],
)
def test_an_error_about_a_parameter_names_the_flag(tmp_path, words, message):
    file = tmp_path / "votes.csv"
    file.write_text("ann,bob,cy\n" + "1,2,3\n3,1,2\n" * 3)
    done = run(*(file if word == "FILE" else word for word in words))
    assert refused(done).startswith(f"fedrank: {message}")


def test_an_error_about_a_field_of_a_file_names_the_field(tmp_path):
    study, config = tmp_path / "study.json", tmp_path / "agent.toml"
    config.write_text('name = "a"\nrankings = "v"\n[policy]\nstudies = []\nmin_clients = 0\n')
    done = run("agent", "ledger", "--config", config)
    assert refused(done).startswith(f"fedrank: {config}: min_clients must be a whole number of")
    text = Study(Borda(2, 3)).to_json()
    study.write_text(text.replace('"threshold":3', '"threshold":1'))
    done = run("flower", "new", study, tmp_path / "app")
    assert refused(done).startswith(f"fedrank: {study}: threshold must be more than half of the 3")


FORGED = "cy\nfedrank: all is well\x1b[8m"


@pytest.mark.parametrize("where", ["label", "cell", "file", "roster"])
def test_texts_of_others_cannot_forge_lines_of_an_error(tmp_path, where):
    file, words = tmp_path / "votes.csv", ["aggregate"]
    rows = {
        "label": f'ann,bob,"{FORGED}"\n1,2,x\n2,1,y\n',
        "cell": f'ann,bob,cy\n1,2,3\n1,3,"{FORGED}"\n',
    }
    file.write_text(rows.get(where, "ann,bob\n1,1\n2,1\n"))
    if where == "file":
        file = file.rename(tmp_path / FORGED.replace("/", ""))
    words.append(file)
    if where == "roster":
        study = Study(Borda(2, 3), roster=[FORGED, "b", "c"])
        (tmp_path / "study.json").write_text(study.to_json())
        words = ["agent", "new", tmp_path / "study.json", "--name", "a", "--rankings", file]
    done = run(*words)
    assert done.returncode == 2
    assert "all is well" in done.stderr
    assert "\x1b" not in done.stderr
    first, *others = done.stderr.splitlines()
    assert first.startswith("fedrank: ")
    assert not [line for line in others if not line.startswith(("  ", "Pass "))]


def test_an_extra_is_named_in_the_help():
    assert "fedrank[plot]" in run("demo", "--help", COLUMNS="200").stdout


@pytest.mark.parametrize(
    ("words", "meant"), [(["agregate"], "aggregate"), (["data", "lst"], "list")], ids=str
)
def test_a_misspelt_command_gets_one_suggestion(words, meant):
    message = refused(run(*words))
    assert message.count("Did you mean") == 1
    assert meant in message


def test_a_misspelt_option_gets_one_suggestion():
    message = refused(run("sample", "--itms", "3"))
    assert message.count("--items") == 1


EARLY = """
import os, signal, sys
from fedrank_command import main

class Stop:
    def find_spec(name, path=None, target=None):
        if name == os.environ["STOP_AT"]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Stop)
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
@pytest.mark.parametrize("module", ["fedrank", "fedrank._core", "typer", "fedrank.cli.sample"])
def test_ctrl_c_while_the_modules_load_ends_without_a_traceback(python, module):
    done = python(EARLY, STOP_AT=module)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "fedrank: stopped\n")


LONG = ("plan", "--items", "150", "--clients", "10", "--phi", "0.6")


def test_a_long_command_shows_how_far_it_is_on_a_terminal_and_wipes_it():
    code, shown = in_terminal(*LONG)
    assert code == 0
    assert re.search(r"\rborda: \d+ samples per client [━─]{24} +\d+ %", shown)
    left = [line.rstrip("\r").split("\r")[-1] for line in shown.split("\n")]
    assert not any("%" in line for line in left)
    assert "rankings per client" in "\n".join(visible(shown))


def test_a_long_command_writes_no_progress_to_a_pipe():
    done = run_process(*LONG, "--json")
    assert "%" not in done.stderr
    assert "\r" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_at_a_terminal_leaves_one_line():
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    main, side = pty.openpty()
    code = "import sys; sys.argv[0] = 'fedrank'; from fedrank_command import main; main()"
    arguments = ("plan", "--items", "400", "--clients", "10", "--phi", "0.6", "--delta", "0.0001")
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=side,
        stdout=side,
        stderr=side,
        env=os.environ | {"COLUMNS": "80"},
        start_new_session=True,
    ) as process:
        os.close(side)
        shown = b""
        try:
            while part := os.read(main, 65536):
                before, shown = shown, shown + part
                if b"samples per client" in shown and b"samples per client" not in before:
                    process.send_signal(signal.SIGINT)
        except OSError:  # Linux's way of saying that the other side is closed
            pass
        os.close(main)
    last = shown.decode().rstrip("\r\n").split("\n")[-1]
    assert process.returncode == 130
    assert last.split("\r")[-1] == "fedrank: stopped"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_named(options):
    command = [sys.executable, "-c", "from fedrank.cli import main; main()"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, "aggregate", SAMPLES / "ranks.csv", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode != 0
    assert "standard output: No space left on device" in done.stderr
