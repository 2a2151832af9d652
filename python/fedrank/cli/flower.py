"""``fedrank flower``: a study across machines, carried by Flower."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from fedrank.agent.policy import quoted
from fedrank.cli import _output as output
from fedrank.cli._reading import check_file
from fedrank.cli.agent import StudyArgument, read_config, read_study
from fedrank.exceptions import InputError
from fedrank.protocol.identity import Identity, public_identity
from fedrank.protocol.study import Study
from fedrank.protocol.summary import WORDS_PER_LINE, batches

PUBLIC_PATH = "The path {path} is in the app, so every data holder can read it"

app = typer.Typer(
    no_args_is_help=True, help="Run a study across machines, on Flower (extra: fedrank\\[flower])."
)


@app.command()
def new(
    study: StudyArgument,
    folder: Annotated[Path, typer.Argument(help="Where to write the app.")] = Path("app"),
    key: Annotated[
        Path | None,
        typer.Option(
            help="The coordinator's private key, on the SuperLink's machine. The app gets the "
            "path as you write it, never the key. The path is public, since the app goes to every "
            "data holder: choose a neutral one, such as /etc/fedrank/coordinator.key."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Random seed for broken ties, for reproducible results."),
    ] = None,
    unsigned: Annotated[
        bool,
        typer.Option(
            "--unsigned",
            help="Make an app for a study without identities, although whoever runs the server "
            "can read every input.",
        ),
    ] = False,
) -> None:
    """For the coordinator: write an app for a study, and a README of commands.

    Without --key, the path of the coordinator's private key must be given to
    each run.
    """
    from fedrank.transport.flower.app import write_app  # noqa: PLC0415  of an extra

    agreed = read_study(study)
    if unsigned and agreed.signed:
        raise InputError("--unsigned is for studies without identities", remedy="leave it out")
    if not agreed.signed and not unsigned:
        raise InputError(
            "the study has no identities, so whoever runs the server can read every input",
            file=study,
            remedy="make it again with 'fedrank study new --party NAME.pub …', or for a trial pass "
            "--unsigned",
        )
    path = "" if key is None else key_path(agreed, key)
    write_app(agreed, folder, seed, readme(agreed, folder, path), path)
    output.say_study(agreed)
    if key is not None and not key.exists():
        output.say(f"{path} is not on this machine; it must be on the SuperLink's")
    if key is not None:
        output.say(PUBLIC_PATH.format(path=path))
        if not key.is_absolute():
            output.say(f"start the SuperLink in this folder: {path} is looked for from there")
    output.say_where(folder / "README.md", "app")


def key_path(study: Study, key: Path) -> str:
    """Return the path of the coordinator's private key as it was given; check it if it is here.

    A relative path is not made absolute: all data holders can read it, and an absolute one may tell
    the name of a user or of a project.
    """
    if study.coordinator is None:
        raise InputError("--key is for studies with identities", value=key, remedy="leave it out")
    if not key.exists():
        if key.is_absolute():
            return str(key)
        raise InputError(
            "there is no such file",
            file=key,
            remedy="if the SuperLink is another machine, give the absolute path there",
        )
    found, named = Identity.load(key), public_identity(study.coordinator)
    if found.public != study.coordinator:
        raise InputError(
            f"this key has the fingerprint {found.fingerprint}, but the study's coordinator has "
            f"{named.fingerprint}",
            file=key,
        )
    return str(key)


@app.command()
def keys(
    study: StudyArgument,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Name or address of the SuperLink; may be given more than once."),
    ] = None,
    folder: Annotated[Path, typer.Argument(help="Where to write them.")] = Path("keys"),
) -> None:
    """For a trial: make certificates, and a key for every node of a roster.

    The holder of the folder can act as any party. In production, use your own
    authority's certificates, and let every data holder make its own key and
    send you the public half.
    """
    from fedrank.transport.flower.keys import write_keys  # noqa: PLC0415  of an extra

    agreed = read_study(study)
    write_keys(folder, host or [], len(agreed.roster))
    output.say_study(agreed)
    output.say_where(folder, "keys")


@app.command()
def join(
    superlink: Annotated[str, typer.Option(help="The SuperLink's address, host:port.")],
    root_certificates: Annotated[
        Path, typer.Option(help="Certificate of the authority that signed the SuperLink's.")
    ],
    key: Annotated[Path, typer.Option(help="This node's private key.")],
    config: Annotated[Path, typer.Option(help="The agent's configuration.")] = Path("agent.toml"),
    socket: Annotated[
        Path | None,
        typer.Option(
            help="Socket of an agent that already runs, as another user; no agent is started."
        ),
    ] = None,
    home: Annotated[Path, typer.Option(help="Flower's folder.")] = Path("flower"),
) -> None:
    """For a data holder: start the agent and a SuperNode, until stopped.

    No telemetry, no update check, no installing of packages; always TLS. The
    app's process can be reached on this machine only. The coordinator's code
    runs with your permissions: in production, run the agent as another user,
    and give its --socket here.
    """
    from fedrank.transport.flower.join import join as start  # noqa: PLC0415  of an extra

    for file in (root_certificates, key):
        check_file(file)
    command = None
    if socket is None:
        main = "from fedrank.cli import main; main()"
        command = [sys.executable, "-c", main, "agent", "run", "--config", str(config)]
    found = read_config(config).socket if socket is None else socket
    raise typer.Exit(start(superlink, root_certificates, key, found, command, home))


def readme(study: Study, folder: Path, key: str = "") -> str:
    """Write down the exact commands for a study."""
    texts = SIGNED if study.signed else UNSIGNED
    words = [f"    {' '.join(some)}" for some in batches(study.words, WORDS_PER_LINE)]
    parts = {
        "digest": study.digest,
        "words": "\n".join(words),
        "clients": len(study.roster),
        "threshold": study.threshold,
        "authority": quoted(str(folder.resolve() / "keys" / "ca.crt")),
        "method": repr(study.method),
        "register": "\n".join(
            f"    flwr supernode register keys/nodes/{n}.pub trial --name {shlex.quote(name)}"
            for n, name in enumerate(study.roster)
        ),
        "key": f"`{key}`" if key else "the file that `--run-config 'key=\"/path/me.key\"'` names",
        "run": "" if key or not study.signed else " --run-config 'key=\"/path/me.key\"'",
    }
    return README.format(**parts, **{name: text.format(**parts) for name, text in texts.items()})


README = """\
# A federated consensus ranking

Study `{digest}`

{method}; {clients} clients, of whom {threshold} must stay to the end.

{identities}

Compare the digest with all parties by telephone or in person, never through the coordinator's
machines alone. In words, as `fedrank study show` prints them:

{words}

## The coordinator

{coordinator}\
Certificates and node keys for a trial. In production, use your own certificate authority, and let
every data holder make its own key:

    fedrank flower keys study_app/study.json --host superlink.example.org

Start the SuperLink in this folder. The consensus will be written to `results` in it:

    export FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1
    flower-superlink --host 127.0.0.1 --port 9092 --enable-supernode-auth \\
        --ssl-certfile keys/server.crt --ssl-keyfile keys/server.key \\
        --ssl-ca-certfile keys/ca.crt --disable-runtime-dependency-installation

(It forgets the nodes when it ends; `--database state.db` keeps them.)

It listens on this machine only. Data holders reach it through a proxy that passes on `/v1/fleet/`
only; fedrank's page on deploying has one. In a trial without a proxy, write `--host 0.0.0.0`.
{exposed}

Tell `flwr` where it is, in `~/.flwr/config.toml`:

    [superlink.trial]
    address = "superlink.example.org:9092"
    root-certificates = {authority}

Register every node under its name in the roster:

{register}

## Every data holder

{agent}
    fedrank agent preview study.json
    fedrank flower join --superlink superlink.example.org:9092 \\
        --root-certificates ca.crt --key node.key

`node.key` is the node's key for Flower, from `keys/nodes` in a trial.

## Run

    flwr run . trial --stream{run}
    flwr list trial --format json

`flwr run` ends with 0 even if the run fails: the status and its reason are in the list. A failed
run leaves no file. Data holders still count it, once they have sent their masked input. If the
ServerApp is killed, run it again: it goes on where it was.
"""

SIGNED = {
    "identities": """\
Every message is signed by its sender and sealed for its recipient. The keys were made, and the
study written, like this:

    fedrank identity new NAME                  # every data holder, and the coordinator
    fedrank study new --items items.txt --party NORTH.pub --party EAST.pub --party SOUTH.pub \\
        --coordinator ME.pub

A `.key` file stays on its owner's machine. A `.pub` file is sent to the coordinator, who compares
its fingerprint with its owner by telephone.""",
    "coordinator": """\
The ServerApp needs the coordinator's private key: {key},
on the SuperLink's machine. The file must belong to the account that the SuperLink runs as, with
mode 600. The app has its path only, as it was written; a relative one is looked for from the folder
that the SuperLink was started in. **The path is public: the app goes to every data holder.** So it
should tell nothing, as `/etc/fedrank/coordinator.key` does not.

By default the ServerApp runs in the SuperLink's account, and it gets its code from the SuperLink.
So whoever controls that account can take the key, and with it read the sum, but no input. That the
SuperLink itself learns nothing holds only if the driver that has the coordinator's key runs outside
its process and account, over another transport.

""",
    "exposed": """\
Then **everybody who reaches the port, every data holder too, can submit a run, whose code can take
the coordinator's key and read the sum**.""",
    "agent": "    fedrank agent new study.json --key NAME.key --rankings FILE",
}

UNSIGNED = {
    "identities": """\
**This study has no identities: whoever runs the server can read every input.** Use it for trials
only. An agent answers it only if its owner passes `--unsigned` to `fedrank agent new`, which writes
`allow_unsigned = true` under `[policy]`.""",
    "coordinator": "",
    "exposed": """\
Then **everybody who reaches the port, every data holder too, can submit a run and read each input
to it**.""",
    "agent": "    fedrank agent new study.json --name NAME --unsigned --rankings FILE",
}
