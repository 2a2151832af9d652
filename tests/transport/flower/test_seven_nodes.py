"""Seven nodes, threshold four, and three failures at once in the masked step."""

import numpy as np
import pytest

from fedrank import Borda, Identity, Rankings, Study, federate
from helpers.federation import federation

pytestmark = pytest.mark.nodes

ROSTER = ["raises", "killed", "cut-off", "north", "east", "south", "west"]
LABELS = ["ash", "birch", "cedar", "dogwood", "elm"]
SEED = 11
COORDINATOR = Identity.generate()
KEYS = {name: Identity.generate() for name in ROSTER}
STUDY = Study(Borda(5, 7), LABELS, KEYS, threshold=4, coordinator=COORDINATOR)

# The client's side, of which three fail when they are asked for their masked input.
FAILING = """
import os
import signal
from pathlib import Path

from flwr.clientapp import ClientApp

from fedrank.transport.flower import client_app

inner = client_app(Path(__file__).with_name("study.json"))


def fail(message, context):
    name = Path(context.node_config["agent"]).parent.name
    if name == "raises":
        raise RuntimeError("on purpose")
    if name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "cut-off":  # this process < SuperExec < SuperNode
        above = Path(f"/proc/{os.getppid()}/status").read_text()
        os.kill(int(above.partition("PPid:")[2].split()[0]), signal.SIGKILL)
    return inner(message, context)


app = ClientApp()
for step in ("advertise", "share", "confirm", "unmask"):
    app.query(step)(inner)
app.query("mask")(fail)
"""


def rankings(seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(5).tolist() for _ in range(12)]


def test_three_failures_at_once_leave_the_exact_sum_over_the_survivors(tmp_path):
    def configure(made):
        for number, name in enumerate(ROSTER):
            made.configure(name, LABELS, rankings(number), [STUDY], seed=SEED)

    with federation(tmp_path, KEYS, configure, COORDINATOR) as seven:
        app = seven.app("app", STUDY, seed=SEED, client=FAILING, deadline=45)
        _, status, result, _ = seven.run(app)
        assert status["status"] == "finished:completed"
        # The SuperNode that was killed takes its agent with it; the others' stay.
        assert seven.processes["join-cut-off"].wait(timeout=60) != 0
        up = [name for name in ROSTER if seven.processes[f"join-{name}"].poll() is None]
        assert up == [name for name in ROSTER if name != "cut-off"]
    clients = [Rankings(rankings(number), LABELS) for number in range(7)]
    in_process = federate(
        clients, STUDY.method, threshold=4, dropouts=[0, 1, 2], identities=True, rng=SEED
    )
    assert [client["name"] for client in result["clients"] if client["in_sum"]] == ROSTER[3:]
    assert [client["dropped_at"]["step"] for client in result["clients"][:3]] == ["mask"] * 3
    order = in_process.order
    assert [(row["item"], row["score"]) for row in result["consensus"]] == [
        (LABELS[i], float(in_process.scores[i])) for i in order
    ]
    assert [client["bytes_sent"] for client in result["clients"]] == in_process.bytes_up.tolist()
