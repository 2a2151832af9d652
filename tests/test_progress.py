"""The progress bar shows itself only when there is something to wait for."""

import io

from rich.console import Console

from fedrank import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(monkeypatch, patience, stream):
    monkeypatch.setattr(_progress, "QUIET_SECONDS", patience)
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=stream, force_terminal=True, width=60)
    )
    with _progress.Progress("masking", 2) as progress:
        progress.advance()
        progress.advance()
    return stream.getvalue()


def test_a_long_job_on_a_terminal_shows_its_name_and_how_far_it_is(monkeypatch):
    shown = run(monkeypatch, -1.0, Terminal())
    assert "masking" in shown
    assert "100%" in shown


def test_a_short_job_shows_nothing(monkeypatch):
    assert run(monkeypatch, 60.0, Terminal()) == ""


def test_a_pipe_gets_nothing(monkeypatch):
    assert run(monkeypatch, -1.0, io.StringIO()) == ""
