"""Long work shows how far it is, from two seconds on, where someone asked for it."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import fedrank as fr
from fedrank import _core, _progress
from fedrank._progress import Progress, show
from fedrank._text import width_of
from fedrank.data import _survey
from helpers import workbooks
from helpers.command import ANSI


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Standard error as a terminal, on which everything is drawn at once."""
    stream = Terminal()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(_progress, "REDRAW_SECONDS", -1.0)
    return stream


def lines(stream):
    """What stood on the line, one after the other."""
    return [line.rstrip() for line in stream.getvalue().split("\r") if line.strip()]


def count_to_two():
    with Progress("masking", 2) as progress:
        progress.advance()
        progress.advance()


def test_a_long_job_on_a_terminal_shows_its_name_and_how_far_it_is(terminal):
    with show():
        count_to_two()
    first, last = lines(terminal)
    assert first.startswith("masking ━")
    assert " 50 % " in first
    assert "100 %" in last
    assert terminal.getvalue().endswith("\r")  # gone when done


def test_a_short_job_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(_progress, "QUIET_SECONDS", 60.0)
    with show():
        count_to_two()
    assert terminal.getvalue() == ""


def test_nothing_is_drawn_unless_someone_asked(terminal):
    count_to_two()
    with show(False):
        count_to_two()
    assert terminal.getvalue() == ""


def test_a_pipe_gets_nothing(terminal, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=stream))
    with show():
        count_to_two()
    assert stream.getvalue() == terminal.getvalue() == ""


def test_a_stream_that_cannot_show_a_line_gets_plain_letters(terminal):
    terminal.encoding = "ascii"
    with show():
        count_to_two()
    assert lines(terminal)[0].isascii()


def test_a_terminal_that_is_gone_does_not_stop_the_work(terminal, monkeypatch):
    def fail(_):
        raise OSError

    monkeypatch.setattr(terminal, "write", fail)
    with show():
        count_to_two()


def test_only_the_outermost_work_is_shown(terminal):
    with show(), Progress("outer", 4) as outer:
        for _ in range(4):
            count_to_two()
            outer.advance()
    assert {line.split()[0] for line in lines(terminal)} == {"outer"}


@pytest.mark.usefixtures("terminal")
def test_parts_of_a_step_move_the_outer_line():
    with show(), Progress("outer", 10) as outer:
        outer.begin(8)
        with Progress("inner", 4) as inner:
            inner.advance()
            assert outer.fraction == 0.2
        outer.advance(8)
        assert outer.fraction == 0.8


@pytest.mark.usefixtures("terminal")
def test_parts_of_parts_move_the_outer_line():
    with show(), Progress("files", 10) as outer:
        outer.begin(10)
        with Progress("file", 4) as middle:
            middle.advance(2)
            middle.begin(2)
            count = Progress("ranking", 2)
            with count:
                count.advance()
            assert middle.fraction == outer.fraction == 0.75


@pytest.mark.usefixtures("terminal")
def test_work_that_is_no_step_does_not_move_the_outer_line():
    with show(), Progress("files", 10) as outer:
        outer.begin(10)
        with Progress("file", 4) as middle:
            count_to_two()
            assert middle.fraction == outer.fraction == 0


def test_the_second_stage_of_long_work_is_shown_at_once(terminal, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(_progress, "QUIET_SECONDS", 2.0)
    with show():
        for name in ("first", "second"):
            with Progress(name, 3) as progress:
                for _ in range(3):
                    now[0] += 0.5
                    progress.advance()
    assert [line.split()[0] for line in lines(terminal)] == ["second"] * 3


def test_the_end_of_a_table_is_not_the_end_of_reading_it(terminal, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("a,b,c\n" + "1,2,3\n2,3,1\n" * 1000)
    fr.data.read(file, progress=True)
    shown = [line for line in lines(terminal) if line.startswith("reading votes.csv")]
    parts = [int(line.split("%")[0].split()[-1]) for line in shown]
    assert max(parts[:-1]) < 80 < parts[-1] <= 100


@pytest.mark.parametrize(("suffix", "step"), [("xlsx", 25), ("xls", 65)])  # loading is one step
def test_reading_a_workbook_shows_how_far_it_is(terminal, tmp_path, monkeypatch, suffix, step):
    monkeypatch.setattr(_survey, "BLOCK_BYTES", 1000)
    rows = [["a", "b"], *[[1, 2], [2, 1]] * 400]
    file = getattr(workbooks, suffix)(tmp_path / f"votes.{suffix}", {"v": rows})
    fr.data.read(file, progress=True)
    drawn = lines(terminal)
    assert {line.split(" ━")[0].split(" ─")[0] for line in drawn} == {f"reading votes.{suffix}"}
    parts = [int(line.split(" %")[0].split()[-1]) for line in drawn]
    assert parts == sorted(parts)
    assert parts[-1] > 80
    assert max(b - a for a, b in pairwise([0, *parts])) < step


def test_without_a_total_the_time_is_shown_and_no_estimate(terminal):
    with show(), Progress("searching") as progress:
        progress.tick()
    (line,) = lines(terminal)
    assert line[-4:] == "0:00"
    assert "%" not in line
    assert "left" not in line


def test_long_labels_do_not_wrap(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    with show(), Progress("漢字" * 40, 2) as progress:
        progress.advance()
    (line,) = lines(terminal)
    assert width_of(line) <= 60


def test_labels_from_data_cannot_control_the_terminal(terminal):
    with show(), Progress("a\x1b[2J\nb", 2) as progress:
        progress.advance()
    assert "\x1b" not in terminal.getvalue()
    assert "\n" not in terminal.getvalue()


def uniform(rows, n):
    return fr.Mallows(1, n=n).sample(rows, rng=0)


VOTES, FEW, ONE = uniform(300, 300), uniform(9, 21), uniform(9, 400)
# Each is long enough for a thread of its own, and ends within a moment.
CALLS = {
    "kemeny": lambda: fr.aggregate(ONE, "kemeny", kicks=5, rng=0),
    "exact kemeny": lambda: fr.aggregate(FEW, "kemeny", exact_upto=21, rng=0),
    "pivot": lambda: fr.aggregate(VOTES, "pivot", rng=0),
    "pick": lambda: fr.aggregate(VOTES, "pick", rng=0),
    "lehmer": lambda: fr.aggregate(uniform(4000, 300), "lehmer", rng=0),
    "sample": lambda: uniform(4000, 300),
    "pairwise counts": lambda: fr.pairwise_counts(VOTES),
    "Kemeny score": lambda: fr.kemeny_score(VOTES[0], uniform(4000, 300)),
    "Kendall distances": lambda: fr.kendall_distance(VOTES, VOTES),
    "footrule distances": lambda: fr.footrule_distance(VOTES, VOTES),
    "Lehmer codes": lambda: fr.lehmer_decode(fr.lehmer_encode(uniform(4000, 300))),
    "simulation": lambda: fr.planning.simulate(
        ["borda", "kemeny"], phi=0.9, n=9, clients=3, samples=3, repetitions=500, rng=0
    ),
}


def reports(call):
    """What a listener of this thread hears during a call."""
    heard = []
    _core.listen(lambda *state: heard.append(state))
    try:
        call()
    finally:
        _core.listen(None)
    return heard


@pytest.mark.parametrize("name", CALLS)
def test_done_reaches_the_total_and_never_decreases(name):
    heard = reports(CALLS[name])
    stage, done, total = heard[-1]
    assert done == total > 0
    for (before, least, of), (now, reached, _) in pairwise(heard):
        assert now != before or reached >= least or least == of  # another call after a full one
    assert all(done <= total or total == 0 for _, done, total in heard)
    assert not stage or "kemeny" in name


def test_the_time_of_a_matching_is_not_known():
    votes = uniform(50, 500)
    heard = reports(lambda: fr.aggregate(votes, "footrule", rng=0))
    assert heard[-1][0] == "matching items and places"
    assert heard[-1][2] == 0


def test_an_error_of_the_listener_stops_the_call_and_is_raised():
    def refuse(*_):
        raise LookupError("no")

    _core.listen(refuse)
    try:
        with pytest.raises(LookupError):
            fr.aggregate(ONE, "kemeny", kicks=10**6, rng=0)
    finally:
        _core.listen(None)
    assert fr.aggregate(FEW, "kemeny", rng=0).exact


def test_other_threads_are_not_heard():
    other = threading.Thread(target=CALLS["pairwise counts"])

    def call():
        other.start()
        other.join()

    assert reports(call) == []


def test_watching_changes_no_result_and_leaves_no_thread(terminal):
    alone = fr.aggregate(ONE, "kemeny", kicks=5, rng=3)
    before = threading.active_count()
    watched = fr.aggregate(ONE, "kemeny", kicks=5, rng=3, progress=True)
    assert np.array_equal(alone.ranks, watched.ranks)
    assert threading.active_count() == before
    assert lines(terminal)[-1].startswith("kemeny")


def test_functions_draw_only_if_asked(terminal):
    clients = [uniform(3, 30) for _ in range(4)]
    calls = [
        lambda **how: fr.aggregate(VOTES, "pick", rng=0, **how),
        lambda **how: fr.Mallows(1, n=300).sample(4000, rng=0, **how),
        lambda **how: fr.federate(clients, "kemeny", rng=0, **how),
        lambda **how: fr.plan("borda", n=4, phi=0.3, clients=4, rng=0, limit=8, **how),
    ]
    for call in calls:
        call()
        assert terminal.getvalue() == ""
        call(progress=True)
        assert lines(terminal), call
        terminal.truncate(0)
        terminal.seek(0)
    with pytest.raises(ValueError, match="progress"):
        fr.aggregate(VOTES, progress="yes")


def test_a_federated_run_is_one_line_from_nothing_to_all(terminal):
    clients = [uniform(3, 30) for _ in range(4)]
    fr.federate(clients, "kemeny", rounds=1, rng=0, progress=True, dropouts=[0])
    shown = lines(terminal)
    assert all(line.startswith("federate") for line in shown)
    parts = [int(line.split("%")[0].split()[-1]) for line in shown if "%" in line]
    assert parts == sorted(parts)
    assert parts[-1] > 70  # the one that dropped out did less than was expected
    assert any("round 2 of 2, mask" in line for line in shown)


def test_rounds_without_a_limit_show_the_time_spent(terminal):
    clients = [uniform(3, 30) for _ in range(4)]
    fr.federate(clients, "kemeny", rng=0, progress=True)
    shown = lines(terminal)
    assert any("round 2, mask" in line for line in shown)
    assert not any("%" in line for line in shown)


def test_importing_fedrank_loads_neither_rich_nor_typer(python):
    code = "import sys, fedrank; print({'rich', 'typer'} & set(sys.modules))"
    assert python(code).stdout == "set()\n"


SLOW_WORK = """
import time
from fedrank._progress import Progress, show
import fedrank as fr
with show():
    start = time.monotonic()
    with Progress("working", 4) as progress:
        while progress.done < 4:
            time.sleep(0.05)
            progress.advance(time.monotonic() - start - progress.done)
print("done")
"""

KEMENY = """
import fedrank as fr
votes = fr.Mallows(1, n=2000).sample(31, rng=0)
fr.aggregate(votes, "kemeny", kicks=10**6, rng=0, progress=True)
"""


def in_terminal(code, stop_after=None):
    """Times and texts that appear on a pseudo-terminal, and the process."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=side, stdout=side, stderr=side, start_new_session=True
    )
    os.close(side)
    shown = []
    try:
        while part := os.read(main, 65536):
            shown.append((time.monotonic(), part.decode()))
            if stop_after is not None and stop_after in "".join(text for _, text in shown):
                process.send_signal(signal.SIGINT)
                stop_after = None
    except OSError:  # Linux's way of saying that the other side is closed
        pass
    os.close(main)
    process.wait(timeout=60)
    return shown, process


def test_the_line_appears_after_two_seconds_and_is_gone_at_the_end():
    shown, _ = in_terminal(SLOW_WORK)
    first = shown[0][0]
    text = "".join(part for _, part in shown)
    drawn = [line for line in text.split("\r") if "%" in line]
    assert 49 <= int(drawn[0].split("%")[0].split()[-1]) <= 75  # of four seconds
    assert shown[-1][0] - first < 3
    assert not ANSI.search(text)
    assert text.split("\r")[-3:-1] == ["", "done"] or text.rstrip().endswith("done")


def test_ctrl_c_wipes_the_line():
    shown, process = in_terminal(KEMENY, stop_after="searching")
    text = "".join(part for _, part in shown)
    assert "KeyboardInterrupt" in text
    before = text.split("Traceback")[0].split("\r")
    assert before[-1] == ""  # the cursor is back at the start of an empty line
    assert not before[-2].strip()
    assert process.returncode in (1, -signal.SIGINT)


def test_nothing_on_a_pipe(python):
    done = python(SLOW_WORK)
    assert (done.stdout, done.stderr) == ("done\n", "")
