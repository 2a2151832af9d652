"""A federation of real processes on this machine: SuperLink, agents, SuperNodes, ``flwr run``."""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sysconfig
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from fedrank.agent import make_store
from fedrank.transport.flower.app import write_app
from fedrank.transport.flower.join import QUIET_ENVIRONMENT, free_port
from fedrank.transport.flower.keys import write_keys
from helpers.command import write_ranks

SCRIPTS = Path(sysconfig.get_path("scripts"))
LINK = "trial"
TIMEOUT_SECONDS = 180  # for anything that must happen


class Federation:
    """One SuperLink, and a node for every client of a roster.

    The roster may be a dict of names to identities: then the agents have their keys, and the
    SuperLink's machine that of the coordinator.
    """

    def __init__(self, folder, roster, coordinator=None):
        self.folder, self.roster = folder, list(roster)
        self.identities = dict(roster) if isinstance(roster, dict) else {}
        self.key = folder / "coordinator.key"
        if coordinator is not None:
            coordinator.save(self.key)
        self.home = folder / "home"
        self.port = free_port()
        self.processes = {}
        self.home.mkdir()
        write_keys(folder / "keys", [], len(roster))
        (self.home / "config.toml").write_text(
            f'[superlink]\ndefault = "{LINK}"\n[superlink.{LINK}]\n'
            f'address = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{folder / "keys" / "ca.crt"}"\n'
        )

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def certificate(self):
        return self.folder / "keys" / "ca.crt"

    def environment(self, home):
        path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
        return (
            os.environ | QUIET_ENVIRONMENT | {"FLWR_HOME": str(home), "PATH": path, "NO_COLOR": "1"}
        )

    # Processes

    def spawn(self, name, *command, home=None):
        """Start a process in a group of its own, its output in a file."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                list(map(str, command)),
                cwd=self.folder,
                env=self.environment(home or self.home),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_link(self):
        keys = self.folder / "keys"
        self.spawn(
            "superlink",
            *(SCRIPTS / "flower-superlink", "--host", "127.0.0.1", "--port", self.port),
            *("--ssl-certfile", keys / "server.crt", "--ssl-keyfile", keys / "server.key"),
            *("--ssl-ca-certfile", keys / "ca.crt", "--enable-supernode-auth"),
            "--disable-runtime-dependency-installation",
        )
        self.wait(self.listens, "the SuperLink to listen")

    def listens(self):
        context = ssl.create_default_context(cafile=self.certificate)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as plain:
                context.wrap_socket(plain, server_hostname="127.0.0.1").close()
        except OSError:
            return False
        return True

    def register(self):
        """Register every node under its name; several at once, for each call takes seconds."""
        waiting = list(enumerate(self.roster))
        while waiting:
            some, waiting = waiting[:4], waiting[4:]
            calls = [
                self.spawn(
                    f"register-{name}",
                    *(SCRIPTS / "flwr", "supernode", "register"),
                    *(self.folder / "keys" / "nodes" / f"{n}.pub", LINK, "--name", name),
                )
                for n, name in some
            ]
            assert [call.wait(timeout=TIMEOUT_SECONDS) for call in calls] == [0] * len(calls)

    def configure(
        self, name, labels, ranks, studies, seed=None, reading=None, identity=None, **limits
    ):
        """Give a client its rankings, how to read them, its policy, and a store for its key.

        Another identity than the roster's may be given, which has a store of its own.
        """
        place = self.folder / name
        place.mkdir(exist_ok=True)
        write_ranks(place / "votes.csv", labels, ranks)
        own = identity or self.identities.get(name)
        store = "state" if identity is None else "stranger"
        if own is not None:
            own.save(place / f"{store}.key")
            make_store(place / store, own.public)
        policy = {"studies": [study.digest for study in studies], "runs_per_day": 100} | limits
        lines = [
            f'name = "{name}"',
            'rankings = "votes.csv"',
            f'folder = "{store}"',
            *([] if own is None else [f'key = "{store}.key"']),
            *([] if seed is None else [f"seed = {seed}"]),
            "[reading]",
            *(f"{key} = {json.dumps(value)}" for key, value in (reading or {}).items()),
            "[policy]",
            *(f"{key} = {json.dumps(value)}" for key, value in policy.items()),
        ]
        (place / "agent.toml").write_text("\n".join(lines) + "\n")

    def join(self, name, key=None):
        """Start a client's two processes, as a data holder does."""
        place = self.folder / name
        number = self.roster.index(name)
        return self.spawn(
            f"join-{name}",
            *(SCRIPTS / "fedrank", "flower", "join", "--superlink", self.address),
            *("--root-certificates", self.certificate),
            *("--key", key or self.folder / "keys" / "nodes" / f"{number}.key"),
            *("--config", place / "agent.toml", "--home", place / "flower"),
            home=place / "flower",
        )

    def join_all(self):
        for name in self.roster:
            self.join(name)
        for name in self.roster:
            self.wait(lambda name=name: "SuperNode ID" in self.log(f"join-{name}"), name)

    def rejoin(self, name):
        """Stop a client's two processes, and start them again."""
        self.processes[f"join-{name}"].terminate()
        self.processes[f"join-{name}"].wait(timeout=TIMEOUT_SECONDS)
        before = self.log(f"join-{name}").count("SuperNode ID")
        self.join(name)
        self.wait(lambda: self.log(f"join-{name}").count("SuperNode ID") > before, name)

    def wait(self, happened, what):
        end = time.monotonic() + TIMEOUT_SECONDS
        while not happened():
            assert time.monotonic() < end, f"waited in vain for {what}"
            dead = self.processes.get("superlink")
            assert dead is None or dead.poll() is None, self.log("superlink")
            time.sleep(0.2)

    def end(self):
        """End every process that was started, each by its id, with all of its group."""
        for process in reversed(self.processes.values()):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes.values()):
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        end = time.monotonic() + 30  # what a SuperLink started looks for it, and ends
        while self.left() and time.monotonic() < end:
            time.sleep(0.2)

    def left(self):
        """Processes of ours that still run: those with our folder in their environment."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                told = (entry / "environ").read_bytes()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if f"FLWR_HOME={self.folder}".encode() in told and command:
                found.append(f"{entry.name}: {command}")
        return found

    # Runs

    def app(self, name, study, seed=None, client=None, key=None, **settings):
        """Write an app; ``client`` is another client's side, for faults."""
        folder = self.folder / name
        write_app(study, folder, seed, key=self.key if key is None else key)
        if client is not None:
            (folder / "study_app" / "client.py").write_text(client)
        project = folder / "pyproject.toml"
        text = project.read_text()
        for setting, value in settings.items():
            text = re.sub(rf"(?m)^{setting} = \S+", f"{setting} = {value}", text)
        project.write_text(text)
        return folder

    def flwr(self, *arguments):
        return subprocess.run(
            [SCRIPTS / "flwr", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment(self.home),
            capture_output=True,
            text=True,
            timeout=10 * TIMEOUT_SECONDS,
            check=False,
        )

    def run(self, app, *options):
        """Run an app to its end; returns its number, its status, and its result if it has one."""
        done = self.flwr("run", app, LINK, "--stream", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        number = re.search(r"started run (\d+)", done.stdout + done.stderr).group(1)
        listed = self.flwr("list", LINK, "--run-id", number, "--format", "json")
        (status,) = json.loads(listed.stdout)["runs"]
        file = self.folder / "results" / f"{number}.json"
        result = json.loads(file.read_text()) if file.exists() else None
        return int(number), status, result, done.stdout + done.stderr


@contextmanager
def federation(folder, roster, configure, coordinator=None):
    """Start a federation, and see that nothing of it is left."""
    made = Federation(folder, roster, coordinator)
    try:
        made.start_link()
        made.register()
        configure(made)
        made.join_all()
        yield made
    finally:
        made.end()
        assert made.left() == []
