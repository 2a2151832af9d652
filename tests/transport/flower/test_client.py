"""The relay: the client's side on Flower, without its processes."""

import socket
import threading
from pathlib import Path

import pytest
from flwr.app import ConfigRecord, Context, Message, RecordDict

from fedrank.agent import Agent, Config, Policy
from fedrank.agent.socket import respond
from fedrank.protocol.secagg import SIGNED_STEPS
from fedrank.transport import Step
from fedrank.transport.flower import client as relay
from fedrank.transport.flower import client_app
from helpers.agents import (
    LABELS,
    RANKS,
    SECRET,
    STUDY,
    opening,
)
from helpers.command import write_ranks

pytestmark = pytest.mark.usefixtures("task")


def relayed(study, node_config, content, step="advertise"):
    request = Message(RecordDict(content), dst_node_id=1, message_type=f"query.{step}")
    context = Context(
        run_id=7, node_id=1, node_config=node_config, state=RecordDict(), run_config={}
    )
    reply = client_app(study)(request, context)
    (record,) = reply.content.values()
    assert list(reply.content) == ["fedrank"]
    assert len(record) == 1  # bytes or a code, nothing else
    return dict(record)


ASKED = {"fedrank": ConfigRecord({"bytes": opening(7), "run": "7", "round": "0"})}


@pytest.fixture
def study_file(tmp_path):
    file = tmp_path / "study.json"
    file.write_text(STUDY.to_json())
    return file


def test_without_an_agent_the_relay_says_unavailable(study_file, tmp_path, monkeypatch, caplog):
    monkeypatch.delenv("FEDRANK_AGENT", raising=False)
    nowhere = {"agent": str(tmp_path / "none.sock")}
    assert relayed(study_file, nowhere, ASKED) == {"code": "unavailable"}
    assert "none.sock: [Errno 2]" in caplog.text  # which stays here
    assert relayed(study_file, {}, ASKED) == {"code": "unavailable"}


@pytest.mark.parametrize("content", [{}, {"fedrank": ConfigRecord({"bytes": "text"})}])
def test_the_relay_says_error_of_what_it_cannot_read(study_file, content):
    assert relayed(study_file, {"agent": "/x"}, content) == {"code": "error"}


@pytest.mark.parametrize("raised", [RuntimeError(SECRET), MemoryError(), BaseException(SECRET)])
def test_the_relay_catches_everything(study_file, monkeypatch, caplog, raised):
    def fail(*_):
        raise raised

    monkeypatch.setattr(relay, "ask", fail)
    assert relayed(study_file, {"agent": "/x"}, ASKED) == {"code": "error"}
    assert type(raised).__name__ in caplog.text


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_the_relay_lets_flower_end_the_process(study_file, monkeypatch, raised):
    def fail(*_):
        raise raised

    monkeypatch.setattr(relay, "ask", fail)
    with pytest.raises(raised):
        relayed(study_file, {"agent": "/x"}, ASKED)


def test_the_relay_passes_the_agents_bytes_on(study_file, tmp_path, monkeypatch):
    votes = write_ranks(tmp_path / "votes.csv", LABELS, RANKS[1])
    policy = Policy((STUDY.digest,), allow_unsigned=True)
    config = Config("east", votes, tmp_path / "state", tmp_path / "a.sock", policy)
    agent = Agent(config)
    monkeypatch.setenv("FEDRANK_AGENT", str(tmp_path / "{}.sock"))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "0.sock"))
        listening.listen()  # before anything connects
        listener = threading.Thread(target=answer_once, args=(agent, listening), daemon=True)
        listener.start()
        reply = relayed(study_file, {"partition-id": 0}, ASKED)
        listener.join(60)
    assert reply == {"bytes": agent.answer(STUDY.to_json(), Step(7, 0, "advertise"), opening(7))}
    agent.close()


@pytest.mark.parametrize("step", SIGNED_STEPS)
def test_every_step_is_passed_on_with_its_name_run_and_round(study_file, monkeypatch, step):
    said = []
    monkeypatch.setattr(relay, "ask", lambda *asked: said.append(asked) or b"sealed")
    content = {"fedrank": ConfigRecord({"bytes": b"envelope", "run": str(2**63), "round": "3"})}
    assert relayed(study_file, {"agent": "/x"}, content, step) == {"bytes": b"sealed"}
    assert said == [(Path("/x"), STUDY.to_json(), Step(2**63, 3, step), b"envelope")]


@pytest.mark.parametrize(
    ("node_config", "told"),
    [
        ({"partition-id": 2, "num-partitions": 3}, {"client": 2}),
        ({"agent": "/x"}, {"code": "unavailable"}),
        ({"partition-id": "2"}, {"code": "unavailable"}),
        ({"partition-id": True}, {"code": "unavailable"}),
    ],
)
def test_a_simulated_node_says_which_client_it_is_without_its_agent(
    study_file, monkeypatch, node_config, told
):
    monkeypatch.setattr(relay, "ask", None)  # calling it would fail
    assert relayed(study_file, node_config, ASKED, "which") == told


def answer_once(agent, listening):
    connection, _ = listening.accept()
    with connection:
        asked = b""
        while part := connection.recv(65536):
            asked += part
        connection.sendall(respond(agent, asked))
