"""A ready Flower app for one study."""

import os
from pathlib import Path

from fedrank._files import whole_folder, write_whole
from fedrank.agent.policy import quoted
from fedrank.protocol.study import Study

FLOWER = "flwr>=1.41,<1.42"


def write_app(
    study: Study,
    folder: Path,
    seed: int | None = None,
    readme: str = "",
    key: str | os.PathLike[str] = "",
) -> None:
    """Write the app of a study: what ``flwr run`` needs. It holds no secret.

    Parameters
    ----------
    study : Study
        The study.
    folder : pathlib.Path
        The app's folder, which must not exist yet.
    seed : int, optional
        Random seed for broken ties; by default another one in every run.
    readme : str
        Text of the app's README.
    key : path, optional
        Where the SuperLink's machine has the coordinator's private key, if the study names
        identities. The app gets the path only: never the key.

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
            key=KEY.format(quoted(os.fspath(key))) if study.signed else "",
            seed="" if seed is None else f"seed = {seed}\n",
        ),
        "README.md": readme,
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
nameless = false  # true in a simulation: a node's number says which client it is
{key}{seed}"""

KEY = """\
key = {}  # file of the coordinator's private key, on the SuperLink's machine
"""

SIDE = '''\
"""The {what}'s side."""

from pathlib import Path

from fedrank.transport.flower import {side}_app

app = {side}_app(Path(__file__).with_name("study.json"))
'''
