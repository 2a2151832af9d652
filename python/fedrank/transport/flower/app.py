"""A ready Flower app for one study."""

import shlex
from pathlib import Path

from fedrank._files import whole_folder, write_whole
from fedrank.agent.policy import quoted
from fedrank.protocol.study import Study

FLOWER = "flwr>=1.41,<1.42"


def write_app(study: Study, folder: Path, seed: int | None = None) -> None:
    """Write the app of a study: what ``flwr run`` needs, and a page that says what to do.

    Parameters
    ----------
    study : Study
        The study.
    folder : pathlib.Path
        The app's folder, which must not exist yet.
    seed : int, optional
        Seed for the ties of the consensus; by default they are broken differently in every run.

    Raises
    ------
    ValueError
        If the folder exists or is not writable.

    Examples
    --------
    >>> import tempfile
    >>> from fedrank import Borda
    >>> folder = Path(tempfile.mkdtemp()) / "app"
    >>> write_app(Study(Borda(n=3, clients=3)), folder)
    >>> sorted(file.name for file in folder.rglob("*.*"))
    ['README.md', '__init__.py', 'client.py', 'pyproject.toml', 'server.py', 'study.json']
    """
    files = {
        "pyproject.toml": PYPROJECT.format(
            flower=FLOWER,
            digest=study.digest,
            version=f"1.0.{int(study.digest[:6], 16)}",
            seed="" if seed is None else f"seed = {seed}\n",
        ),
        "README.md": README.format(
            digest=study.digest,
            clients=len(study.roster),
            threshold=study.threshold,
            authority=quoted(str(folder.resolve() / "keys" / "ca.crt")),
            method=repr(study.method),
            register="\n".join(
                f"    flwr supernode register keys/nodes/{n}.pub trial --name {shlex.quote(name)}"
                for n, name in enumerate(study.roster)
            ),
        ),
        "study_app/__init__.py": '"""Made by fedrank: passes bytes on."""\n',
        "study_app/server.py": SIDE.format(side="server", what="coordinator"),
        "study_app/client.py": SIDE.format(side="client", what="data holder"),
        "study_app/study.json": study.to_json(),
    }
    with whole_folder(folder) as part:
        (part / "study_app").mkdir()
        for name, text in files.items():
            write_whole(part / name, text.encode())


PYPROJECT = """\
[project]
name = "fedrank-study"
version = "{version}"
description = "A federated consensus ranking; study {digest}"
license = "Apache-2.0"
dependencies = ["{flower}", "fedrank[flower]"]

[tool.flwr.app]
publisher = "fedrank"
fab-include = ["study_app/*.py", "study_app/study.json"]

[tool.flwr.app.components]
serverapp = "study_app.server:app"
clientapp = "study_app.client:app"

[tool.flwr.app.config]
wait = 120        # seconds to wait for all nodes of the roster
deadline = 120    # seconds per step: a client that misses it has dropped out
out = "results"   # folder of the consensus and of a run's state, on the SuperLink's machine
nameless = false  # true in a simulation: a node's agent says which client it is
{seed}"""

SIDE = '''\
"""The {what}'s side."""

from pathlib import Path

from fedrank.transport.flower import {side}_app

app = {side}_app(Path(__file__).with_name("study.json"))
'''

README = """\
# A federated consensus ranking

Study `{digest}`

{method}; {clients} clients, of whom {threshold} must stay to the end.

Compare the digest with all parties, by another way than through the coordinator.

## The coordinator

Certificates and node keys for a trial. In production, use your own certificate authority, and let
every data holder make its own key:

    fedrank flower keys study_app/study.json --host superlink.example.org

Start the SuperLink in this folder. The consensus will be written to `results` in it:

    export FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1
    flower-superlink --host 0.0.0.0 --port 9092 --enable-supernode-auth \\
        --ssl-certfile keys/server.crt --ssl-keyfile keys/server.key \\
        --ssl-ca-certfile keys/ca.crt --disable-runtime-dependency-installation

(It forgets the nodes when it ends; `--database state.db` keeps them.)

Started like this, it is for a trial: **everybody who reaches the port, every data holder too, can
submit a run and read each input to it**. In production, let it listen on 127.0.0.1, behind a proxy
that passes on `/v1/fleet/` only; fedrank's page on deploying has one.

Tell `flwr` where it is, in `~/.flwr/config.toml`:

    [superlink.trial]
    address = "superlink.example.org:9092"
    root-certificates = {authority}

Register every node under its name in the roster:

{register}

## Every data holder

    fedrank agent new study.json --name NAME --rankings FILE
    fedrank agent preview study.json
    fedrank flower join --superlink superlink.example.org:9092 \\
        --root-certificates ca.crt --key NODE.key

## Run

    flwr run . trial --stream
    flwr list trial --format json

`flwr run` ends with 0 even if the run fails: the status and its reason are in the list. A failed
run leaves no file. Data holders still count it, once they have sent their masked input. If the
ServerApp is killed, run it again: it goes on where it was.
"""
