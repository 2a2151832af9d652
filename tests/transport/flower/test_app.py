"""The app, the keys and the settings that Flower gets."""

import os
import ssl
import stat
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

import fedrank
from fedrank import Borda, Study
from fedrank.cli.flower import readme as readme_of
from fedrank.transport.flower.app import write_app
from fedrank.transport.flower.join import environment, node_command
from fedrank.transport.flower.keys import write_keys
from helpers.command import COMMAND
from helpers.identities import PARTIES, with_identities


def test_an_app_has_what_flower_needs(tmp_path):
    study = Study(Borda(2, 3), ["a", 'b"\\'], ["x y", "z'", "w"])
    write_app(study, tmp_path / "app", seed=4, readme=readme_of(study, tmp_path / "app"))
    project = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    app = project["tool"]["flwr"]["app"]
    assert app["components"] == {
        "serverapp": "study_app.server:app",
        "clientapp": "study_app.client:app",
    }
    assert app["config"] == {
        "wait": 120,
        "deadline": 120,
        "out": "results",
        "nameless": False,
        "seed": 4,
    }
    assert "key" not in app["config"]  # a study without identities
    assert Study.from_json((tmp_path / "app" / "study_app" / "study.json").read_text()) == study
    readme = (tmp_path / "app" / "README.md").read_text()
    assert study.digest in readme
    assert """keys/nodes/1.pub trial --name 'z'"'"''""" in readme
    assert [p.name for p in tmp_path.iterdir()] == ["app"]
    with pytest.raises(ValueError, match="exists already"):
        write_app(study, tmp_path / "app")
    with pytest.raises(ValueError, match="there is no folder"):
        write_app(study, tmp_path / "none" / "app")


def test_an_app_of_a_signed_study_holds_the_path_of_the_key_only(tmp_path):
    study = Study(Borda(2, 3), roster=with_identities("xyz"), coordinator=PARTIES[3])
    PARTIES[3].save(tmp_path / 'my "own".key')
    write_app(study, tmp_path / "app", key=tmp_path / 'my "own".key')
    project = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    config = project["tool"]["flwr"]["app"]["config"]
    assert config["key"] == str(tmp_path / 'my "own".key')
    write_app(study, tmp_path / "later")
    project = tomllib.loads((tmp_path / "later" / "pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"]["key"] == ""  # so that a run may name it


def test_an_app_can_be_built_by_flower_and_no_key_beside_it_is_sent(tmp_path):
    study = Study(Borda(2, 3), roster=with_identities("xyz"), coordinator=PARTIES[3])
    write_app(study, tmp_path / "app", key=tmp_path / "app" / "me.key")
    for place in (tmp_path / "app", tmp_path / "app" / "study_app"):
        PARTIES[3].save(place / "me.key")
    write_keys(tmp_path / "app" / "keys", [], nodes=1)
    home = {"FLWR_HOME": str(tmp_path / "home"), "FLWR_TELEMETRY_ENABLED": "0"}
    done = subprocess.run(
        [COMMAND.with_name("flwr"), "build"],
        cwd=tmp_path / "app",
        env=os.environ | home | {"FLWR_DISABLE_UPDATE_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (bundle,) = (tmp_path / "app").glob("*.fab")
    with zipfile.ZipFile(bundle) as sent:
        assert "study_app/study.json" in sent.namelist()
        assert not [name for name in sent.namelist() if name.endswith(".key")]
        assert not any(
            word in sent.read(name)
            for name in sent.namelist()
            for word in (b"fedrank-key1:", b"PRIVATE KEY")
        )


def test_trial_certificates_hold_for_their_hosts_and_no_other(tmp_path):
    write_keys(tmp_path / "keys", ["link.example.org", "10.0.0.7"], nodes=1)
    context = ssl.create_default_context(cafile=tmp_path / "keys" / "ca.crt")
    for host, good in [
        ("link.example.org", True),
        ("10.0.0.7", True),
        ("localhost", True),
        ("evil.example.org", False),
    ]:
        assert handshake(tmp_path / "keys", context, host) is good
    write_keys(tmp_path / "other", [], nodes=0)
    stranger = ssl.create_default_context(cafile=tmp_path / "other" / "ca.crt")
    assert not handshake(tmp_path / "keys", stranger, "localhost")


def handshake(keys, context, host):
    """Whether a client takes the server's certificate, in memory."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(keys / "server.crt", keys / "server.key")
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = context.wrap_bio(down, up, server_hostname=host)
    two = server_side.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for side in (one, two):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


def test_node_keys_are_a_pair_and_secret(tmp_path):
    write_keys(tmp_path / "keys", [], nodes=2)
    nodes = tmp_path / "keys" / "nodes"
    secrets = [(nodes / f"{n}.key").read_bytes() for n in (0, 1)]
    keys = [serialization.load_ssh_private_key(secret, None) for secret in secrets]
    public = [serialization.load_ssh_public_key((nodes / f"{n}.pub").read_bytes()) for n in (0, 1)]
    assert [key.public_key() for key in keys] == public
    assert public[0] != public[1]
    assert keys[0].curve.name == "secp384r1"
    for secret in (nodes / "0.key", tmp_path / "keys" / "server.key"):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with pytest.raises(ValueError, match="exists already"):
        write_keys(tmp_path / "keys", [], nodes=2)


def test_a_node_is_quiet_and_reached_on_this_machine_only():
    command = node_command("link:1", Path("ca.crt"), Path("n.key"), Path("/a b/agent.sock"))
    settings = dict(zip(command[1::2], command[2::2], strict=True))
    assert settings["--host"] == "127.0.0.1"
    assert settings["--node-config"] == 'agent="/a b/agent.sock"'
    assert "--insecure" not in command
    quiet = environment(Path("/home/x"))
    assert quiet["FLWR_TELEMETRY_ENABLED"] == "0"
    assert quiet["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert quiet["FLWR_HOME"] == "/home/x"


def test_only_this_package_imports_flower():
    package = Path(fedrank.__file__).parent
    importing = [
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if "import flwr" in file.read_text() or "from flwr" in file.read_text()
    ]
    assert importing == ["transport/flower/_flwr.py"]
