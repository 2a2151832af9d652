"""Runs the ``fedrank`` command as its users do: piped, and in a terminal."""

import io
import json
import os
import re
import subprocess
import sys
import sysconfig
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest

from fedrank.cli import main
from helpers import reference

COMMAND = Path(sysconfig.get_path("scripts")) / "fedrank"
PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def surroundings(environment):
    """The environment of a command whose output is piped."""
    kept = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    return kept | PLAIN | environment


def run(*arguments, **environment):
    """Run the command in this interpreter, which saves starting one, its output piped."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    with (
        mock.patch.dict(os.environ, surroundings(environment), clear=True),
        mock.patch.object(sys, "argv", ["fedrank", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    shown = []
    for stream in (out, errors):
        stream.flush()
        shown.append(stream.buffer.getvalue().decode())
    return subprocess.CompletedProcess(arguments, ended.value.code or 0, *shown)


def run_process(*arguments, **environment):
    """Run the command as a process of its own, its output piped."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        env=surroundings(environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def in_terminal(*arguments, width=80, **environment):
    """Exit code and output of the command in a pseudo-terminal of so many columns."""
    return in_pty([COMMAND, *map(str, arguments)], width, environment)


MARK = "-- exit code "
SEVERAL = f"""
import json, sys
from fedrank.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as ended:
        print({MARK!r} + str(ended.code or 0), flush=True)
"""


def in_one_terminal(*commands, width=80):
    """Exit code and output of several commands, in one pseudo-terminal and one process."""
    asked = json.dumps([list(map(str, arguments)) for arguments in commands])
    _, shown = in_pty([sys.executable, "-c", SEVERAL, asked], width, {})
    parts = re.split(rf"{MARK}(\d+)\r?\n", shown)
    found = [(int(code), each) for each, code in zip(parts[::2], parts[1::2], strict=False)]
    assert len(found) == len(commands), shown
    return found


def in_pty(command, width, environment):
    """Exit code and output of a process in a pseudo-terminal of so many columns."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    import fcntl  # noqa: PLC0415  not on all systems
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        command,
        env=kept | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | environment,
        stdin=side,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    shown = b""
    try:
        while part := os.read(main, 65536):
            shown += part
    except OSError:  # Linux's way of saying that the other side is closed
        pass
    os.close(main)
    return process.wait(timeout=120), shown.decode()


def visible(shown):
    """Lines as they stand on the screen."""
    return ANSI.sub("", shown).replace("\r", "").splitlines()


def cells(lines):
    """Cells of the tables' rows, folded ones put together."""
    rows = []
    for line in lines:
        if line.startswith("│"):
            row = [cell.strip() for cell in line.strip("│").split("│")]
            if row[0] or not rows:
                rows.append(row)
            else:
                rows[-1] = [a + b for a, b in zip(rows[-1], row, strict=True)]
    return rows


def refused(done):
    """The one line by which the command refuses."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fedrank: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    assert "Traceback" not in done.stderr
    return done.stderr


def kemeny_score(consensus, rankings):
    """Mean Kendall distance, divided by the number of items (M1)."""
    total = sum(reference.kendall(consensus, r) for r in rankings)
    return total / (len(rankings) * len(consensus))


def ranks_of(document, labels):
    """Positions of the labels in the consensus of a JSON document."""
    place = {row["item"]: row["place"] for row in document["consensus"]}
    assert [row["place"] for row in document["consensus"]] == list(range(1, len(labels) + 1))
    return tuple(place[label] - 1 for label in labels)


def write_ranks(path, labels, rankings):
    """A CSV of ranks from 0."""
    rows = [labels, *rankings]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def write_soc(path, labels, rankings):
    """A PrefLib file, every ranking a line."""
    orders = [",".join(str(item + 1) for item in reference.inverse(r)) for r in rankings]
    names = [f"# ALTERNATIVE NAME {i}: {label}" for i, label in enumerate(labels, 1)]
    head = ["# DATA TYPE: soc", f"# NUMBER ALTERNATIVES: {len(labels)}"]
    lines = [*head, f"# NUMBER VOTERS: {len(orders)}", *names, *(f"1: {o}" for o in orders)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
