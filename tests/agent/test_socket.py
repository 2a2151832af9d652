"""The agent behind its socket: what it replies to any request."""

import importlib
import json
import socket

import pytest

from fedrank import Borda, Study
from fedrank.agent import Agent, Code, RefusalError, preview
from fedrank.agent.socket import listens, respond
from helpers.agents import LABELS, ROSTER, SECRET, STUDY, configured, opening

HEAD = json.dumps({"study": STUDY.to_json(), "run": 1, "round": 0, "step": "advertise"}).encode()
ASKED = HEAD + b"\n" + opening(1)

serving = importlib.import_module("fedrank.agent.socket")  # the package has a function of its name


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ash,birch,cedar\n7654321,1,2\n", Code.DATA),  # an item is missing
        ("ash,birch,cedar,dogwood\n7654321,1,2,x\n", Code.DATA),  # not a number
        ("ash,birch,cedar,dogwood\n7654321,1,2,3\n", Code.DATA),  # not certainly ranks
        ("who,ash,birch,cedar,dogwood\np7654321,0,1,2,3\n", Code.REFUSED),  # one ranking only
        ("", Code.DATA),
    ],
)
def test_a_marker_in_the_data_never_leaves_nor_is_logged(tmp_path, caplog, text, code):
    config = configured(tmp_path)
    config.rankings.write_text(text)
    agent = Agent(config)
    assert respond(agent, ASKED) == code.value.encode() + b"\n"
    agent.close()
    assert len(caplog.messages) == 1
    assert SECRET not in caplog.text


def test_the_reason_is_shown_by_a_preview_and_its_place_is_logged(tmp_path, caplog):
    config = configured(tmp_path)
    config.rankings.write_text("ash,birch,cedar,dogwood\n7654321,1,2,x\n")
    with pytest.raises(RefusalError, match=SECRET):
        preview(config, STUDY)
    agent = Agent(config)
    respond(agent, ASKED)
    agent.close()
    (told,) = caplog.messages
    assert str(config.rankings) in told


FORGED = "x\n2026-01-01 00:00:00,000 INFO run 9: answered\x1b[8m"


@pytest.mark.parametrize("damage", ["study", "file", "step", "fault"])
def test_texts_of_others_cannot_forge_lines_of_the_log(tmp_path, caplog, monkeypatch, damage):
    study, step = STUDY, "advertise"
    if damage == "study":
        study = Study(Borda(4, 4), [*LABELS[:3], FORGED], ROSTER)
    config = configured(tmp_path, study=study)
    if damage == "file":
        config.rankings.write_text(f'ash,birch,cedar,"{FORGED}"\n1,2,3,4\n')
    if damage == "step":
        step = FORGED
    agent = Agent(config)
    if damage == "fault":

        def fail(*_):
            raise OSError(FORGED)

        monkeypatch.setattr(agent, "answer", fail)
    head = {"study": study.to_json(), "run": 1, "round": 0, "step": step}
    assert not respond(agent, json.dumps(head).encode() + b"\n").startswith(b"ok")
    agent.close()
    (record,) = caplog.records
    assert record.exc_info is None  # a traceback has several lines
    assert record.getMessage().isprintable()


@pytest.mark.parametrize(
    "asked", [b"", b"\n", b"{}\n", b"[]\n", b'{"study": 1}\n', b"\xff\n", b"[" * 100_000]
)
def test_requests_that_cannot_be_read_get_a_code(agent, asked):
    assert respond(agent, asked) == b"error\n"


def test_a_first_line_too_long_is_not_parsed(agent, monkeypatch):
    monkeypatch.setattr(serving, "MAX_HEAD_BYTES", 1000)
    assert len(HEAD) < 1000
    assert respond(agent, ASKED).startswith(b"ok\n")
    assert respond(agent, b" " * 1000 + ASKED) == b"error\n"


def test_no_more_than_the_beginning_of_a_detail_is_logged(agent, caplog):
    asked = json.dumps(
        {"study": STUDY.to_json(), "run": 1, "round": 0, "step": "B" * 100_000}
    ).encode()
    assert respond(agent, asked + b"\n") == b"protocol\n"
    (record,) = caplog.records
    assert "there is no step 'BBB" in record.getMessage()
    assert len(record.getMessage()) < 600


def test_a_panic_gets_a_code_and_its_text_is_not_logged(agent, monkeypatch, caplog):
    class PanicError(BaseException):
        pass

    def panic(*_):
        raise PanicError(SECRET)

    monkeypatch.setattr(agent, "answer", panic)
    asked = json.dumps({"study": "{}", "run": 1, "round": 0, "step": "advertise"}).encode()
    assert respond(agent, asked + b"\n") == b"error\n"
    assert "PanicError" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("number", [True, 1.0, "1", -1, 2**64, None])
def test_a_runs_number_is_a_whole_one_of_64_bits(agent, number):
    asked = {"study": STUDY.to_json(), "run": 2**64 - 1, "round": 0, "step": "advertise"}
    begin = b"\n" + opening(2**64 - 1)
    assert respond(agent, json.dumps(asked).encode() + begin).startswith(b"ok\n")
    wrong = json.dumps(asked | {"run": number}).encode() + begin
    assert respond(agent, wrong) == b"error\n"


def test_a_socket_that_another_process_listens_on_is_left_alone(tmp_path):
    path = tmp_path / "a.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(ValueError, match="another process listens"), serving.listening(path):
            pass
        assert listens(path)
    assert not listens(path)
    with serving.listening(path):  # nobody does any more
        assert listens(path)
        path.unlink()
        path.write_text("another's")
    assert path.read_text() == "another's"
