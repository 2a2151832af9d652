"""The relay: the client's side on Flower, without its processes."""

import socket
import threading

import pytest
from flwr.app import ConfigRecord, Context, Message, RecordDict

from fedrank.agent import Agent, Config, Policy
from fedrank.agent.socket import respond
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


def relayed(study, node_config, content):
    request = Message(RecordDict(content), dst_node_id=1, message_type="query.advertise")
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


def answer_once(agent, listening):
    connection, _ = listening.accept()
    with connection:
        asked = b""
        while part := connection.recv(65536):
            asked += part
        connection.sendall(respond(agent, asked))
