"""Saved states: a run whose server was killed goes on, and a wrong state is refused."""

import json
import os
import signal
import stat
import subprocess
import sys
from base64 import b64decode

import pytest

from fedrank import Kemeny, Study, conduct, federate
from fedrank.exceptions import ProtocolError, RunFailedError
from fedrank.protocol.envelope import header
from fedrank.transport import InProcess, Step
from helpers.runs import (
    BOTH,
    CLIENTS,
    METHODS,
    ROSTER,
    SIGNED,
    SIGNED_METHODS,
    STUDY,
    clients,
    keys,
)
from helpers.sessions import ids, reframe


def same(a, b):
    assert a.ranks.tobytes() == b.ranks.tobytes()
    assert (a.survivors, a.dropped, a.fit, a.note) == (b.survivors, b.dropped, b.fit, b.note)
    assert [each.round for each in a.rounds] == [each.round for each in b.rounds]
    assert a.bytes_up.tolist() == b.bytes_up.tolist()
    assert a.bytes_down.tolist() == b.bytes_down.tolist()
    assert set(a.seconds) == set(b.seconds)


class KilledError(Exception):
    pass


class Mortal:
    """Clients that live on, and a server that is killed once, before or after an exchange."""

    def __init__(self, inner, at, after):
        self.inner, self.at, self.after, self.count = inner, at, after, 0
        self.log = []

    def exchange(self, step, requests):
        number, self.count = self.count, self.count + 1
        self.log.append((step, dict(requests)))
        if number == self.at and not self.after:
            raise KilledError
        replies = self.inner.exchange(step, requests)
        if number == self.at:
            raise KilledError
        return replies


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("name", ["borda", "kemeny, phi"])
@pytest.mark.parametrize("methods", [METHODS, SIGNED_METHODS], ids=["unsigned", "signed"])
def test_a_killed_run_goes_on_at_every_step(tmp_path, methods, name, after):
    study = methods[name]
    options = {"dropouts": {1: (0, "share")}}
    expected = conduct(study, clients(study, **options), rng=9, **keys(study))
    steps = len(study.steps) * len(expected.rounds)
    assert steps == len(study.steps) * (1 if name == "borda" else 4)
    for at in range(steps):
        save = tmp_path / f"{at}.state"
        mortal = Mortal(clients(study, **options), at, after)
        with pytest.raises(KilledError):
            conduct(study, mortal, rng=9, run=5, save=save, **keys(study))
        assert stat.S_IMODE(save.stat().st_mode) == 0o600
        # The seed and the number of the run are those of the run that was killed.
        found = conduct(study, mortal, rng=1, run=6, save=save, **keys(study))
        same(found, expected)
        again = mortal.log[at + 1]
        assert again == mortal.log[at]  # the step, and the same bytes
        assert {step.run for step, _ in mortal.log} == {5}
        # Every round is one session, before and after.
        rounds = {step.round: set() for step, _ in mortal.log}
        for step, requests in mortal.log:
            if study.signed:
                rounds[step.round] |= {header(each).session for each in requests.values()}
        assert all(len(sessions) == study.signed for sessions in rounds.values())
        # A server that was killed after all was done decodes what it has.
        asked = len(mortal.log)
        same(conduct(study, mortal, save=save, **keys(study)), expected)
        assert len(mortal.log) == asked


def test_a_saved_run_of_a_study_with_identities_holds_no_identity(tmp_path):
    save = tmp_path / "run.state"
    with pytest.raises(KilledError):
        conduct(SIGNED, Mortal(clients(SIGNED), 2, after=True), save=save, **keys(SIGNED))
    kept = save.read_text()
    for identity in keys(SIGNED).values():
        assert identity._core.line() not in kept
    with pytest.raises(ValueError, match="identity is missing"):
        conduct(SIGNED, clients(SIGNED), save=save)
    assert save.read_text() == kept


def test_a_state_of_another_study_or_version_is_refused(tmp_path):
    save = tmp_path / "run.state"
    conduct(STUDY, clients(STUDY), save=save)
    other = METHODS["lehmer"]
    with pytest.raises(ValueError, match=rf"the run is of study {STUDY.digest}, not of"):
        conduct(other, clients(other), save=save)
    content = json.loads(save.read_text())
    for change, named in [
        ({"format": 1}, "this version"),
        ({"record": "{}"}, "damaged"),
        ({"running": content["running"] | {"server": "AAAA"}}, "damaged"),
        ({"rounds": [1]}, "damaged"),
    ]:
        save.write_text(json.dumps(content | change))
        with pytest.raises(ValueError, match=named):
            conduct(STUDY, clients(STUDY), save=save)
    for damaged in (b"half", b"", b"\xff\xfe", b"[]"):
        save.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{save.name}: .*; move it away"):
            conduct(STUDY, clients(STUDY), save=save)
    with pytest.raises(ValueError, match="save is for secure runs only"):
        conduct(STUDY, clients(STUDY), secure=False, save=save)


@pytest.mark.parametrize("study", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("step", [-1, 6, True, "1", None])
def test_a_saved_step_is_one_of_the_round(tmp_path, step, study):
    save = tmp_path / "run.state"
    with pytest.raises(KilledError):
        conduct(study, Mortal(clients(study), 2, after=True), save=save, **keys(study))
    content = json.loads(save.read_text())
    content["running"]["step"] = step
    save.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="damaged"):
        conduct(study, clients(study), save=save, **keys(study))


@pytest.mark.parametrize("study", BOTH.values(), ids=BOTH)
def test_the_survivors_that_requests_name_are_those_that_are_asked(tmp_path, study):
    """The file is not believed: what the server is about to send is looked at."""
    save = tmp_path / "run.state"
    lost = clients(study, dropouts={3: (0, "mask")})
    with pytest.raises(KilledError):
        conduct(study, Mortal(lost, 3, after=False), save=save, **keys(study))
    content = json.loads(save.read_text())
    assert sorted(content["running"]["requests"]) == ["0", "1", "2"]
    content["running"]["requests"]["3"] = content["running"]["requests"]["2"]
    save.write_text(json.dumps(content))
    with pytest.raises(RunFailedError, match="name other survivors"):
        conduct(study, lost, save=save, **keys(study))


def test_one_process_at_a_time_goes_on_from_a_state(tmp_path):
    save = tmp_path / "run.state"

    class Second(InProcess):
        def exchange(self, step, requests):
            with pytest.raises(ValueError, match="another process holds this file"):
                conduct(STUDY, clients(STUDY), save=save)
            return super().exchange(step, requests)

    assert conduct(STUDY, Second(STUDY, CLIENTS, bytes(32)), save=save).survivors == list(
        STUDY.roster
    )
    assert [file.name for file in tmp_path.iterdir()] == ["run.state"]


def test_a_run_that_failed_is_not_gone_on_with(tmp_path):
    save = tmp_path / "run.state"
    few = clients(STUDY, dropouts={0: (0, "mask"), 1: (0, "mask")})
    with pytest.raises(RunFailedError):
        conduct(STUDY, few, save=save)
    assert list(tmp_path.iterdir()) == []
    assert conduct(STUDY, clients(STUDY), save=str(save)).survivors == list(STUDY.roster)


@pytest.mark.parametrize("methods", [METHODS, SIGNED_METHODS], ids=["unsigned", "signed"])
def test_two_lives_of_a_server_cannot_open_two_lists(tmp_path, methods):
    """A client that answered the list of survivors answers no other, whatever the server knows."""
    study = methods["kemeny"]
    inner = clients(study)
    save = tmp_path / "run.state"
    with pytest.raises(KilledError):
        conduct(study, Mortal(inner, 3, after=True), rng=9, save=save, **keys(study))
    running = json.loads(save.read_text())["running"]
    listed = b64decode(running["requests"]["0"])
    other = reframe(listed, ids(0, 1, 2))
    client = inner.parties[0].client
    answer = client.confirm if study.signed else client.unmask
    with pytest.raises(ProtocolError) as refused:
        answer(other)
    assert refused.value.code == "conflict"
    assert answer(listed)
    with pytest.raises(ProtocolError):
        inner.parties[0].answer(Step(0, 0, study.steps[3]), b"another list")


SERVER = """
import sys
from pathlib import Path
from fedrank import Study, conduct
from fedrank.agent import ask
from fedrank.transport import Lost

folder, kill_at = Path(sys.argv[1]), int(sys.argv[2])
study = Study.from_json((folder / "study.json").read_text())

class Sockets:
    count = 0
    def exchange(self, step, requests):
        replies = {
            client: ask(folder / study.roster[client] / "a.sock", study.to_json(), step, request)
            for client, request in requests.items()
        }
        Sockets.count += 1
        if Sockets.count == kill_at:
            print("killed", flush=True)
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
        return replies

result = conduct(study, Sockets(), rng=3, run=1, save=folder / "run.state")
print(result.ranks.tolist(), len(result.rounds))
"""


@pytest.mark.nodes
@pytest.mark.parametrize("kill_at", [1, 3, 4, 6, 8])
def test_a_server_that_is_killed_goes_on_with_agents_as_processes(tmp_path, kill_at):
    study = Study(
        Kemeny(12, 4, window=1, rounds=2, max_samples=10),
        [f"item {i}" for i in range(12)],
        ROSTER,
        fit_phi=True,
    )
    (tmp_path / "study.json").write_text(study.to_json())
    agents = []
    try:
        for name, rankings in zip(ROSTER, CLIENTS, strict=True):
            folder = tmp_path / name
            folder.mkdir()
            rows = [",".join(study.items), *(",".join(map(str, row)) for row in rankings.ranks)]
            (folder / "votes.csv").write_text("\n".join(rows) + "\n")
            (folder / "agent.toml").write_text(
                f'name = "{name}"\nrankings = "votes.csv"\nsocket = "a.sock"\nseed = 3\n'
                f'[policy]\nstudies = ["{study.digest}"]\nallow_unsigned = true\n'
            )
            command = [sys.executable, "-c", "from fedrank.cli import main; main()"]
            run = [*command, "agent", "run", "--config", folder / "agent.toml"]
            agents.append(subprocess.Popen(run, stdout=subprocess.PIPE, text=True))
        assert all(agent.stdout.readline() for agent in agents)  # they say where they listen
        for agent, name in zip(agents, ROSTER, strict=True):
            while not (tmp_path / name / "a.sock").exists():
                assert agent.poll() is None

        def serve(kill):
            return subprocess.run(
                [sys.executable, "-c", SERVER, tmp_path, str(kill)],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
                env=os.environ,
            )

        killed = serve(kill_at)
        assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "killed\n"), killed.stderr
        done = serve(0)
        assert done.returncode == 0, done.stderr
        expected = federate(CLIENTS, study.method, fit_phi=True, rng=3)
        told = f"{expected.ranks.tolist()} {len(expected.rounds)}\n"
        assert done.stdout == told
    finally:
        for agent in agents:
            agent.kill()
            agent.communicate()
