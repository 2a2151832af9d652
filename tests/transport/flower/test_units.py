"""The units and the compose file of docs/deploy confine what runs foreign code."""

import re
import shutil
import subprocess

import pytest
import yaml

from helpers.paths import TESTS

DOCS = TESTS.parent / "docs"
DEPLOY = DOCS / "deploy"
UNITS = ["fedrank-agent", "fedrank-node", "flower-superlink"]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))

# What each service must have, whatever else it has.
CONFINED = {
    "AmbientCapabilities": [""],
    "CapabilityBoundingSet": [""],
    "LockPersonality": ["yes"],
    "MemoryDenyWriteExecute": ["yes"],
    "NoNewPrivileges": ["yes"],
    "PrivateDevices": ["yes"],
    "PrivateMounts": ["yes"],
    "PrivateTmp": ["yes"],
    "PrivateUsers": ["yes"],
    "ProcSubset": ["pid"],
    "ProtectClock": ["yes"],
    "ProtectControlGroups": ["yes"],
    "ProtectHome": ["yes"],
    "ProtectHostname": ["yes"],
    "ProtectKernelLogs": ["yes"],
    "ProtectKernelModules": ["yes"],
    "ProtectKernelTunables": ["yes"],
    "ProtectProc": ["invisible"],
    "ProtectSystem": ["strict"],
    "RemoveIPC": ["yes"],
    "RestrictNamespaces": ["yes"],
    "RestrictRealtime": ["yes"],
    "RestrictSUIDSGID": ["yes"],
    "StateDirectoryMode": ["0700"],
    "SystemCallArchitectures": ["native"],
    "SystemCallErrorNumber": ["EPERM"],
    "SystemCallFilter": [
        "@system-service",
        "~@privileged @resources @mount @debug @module @reboot @swap @raw-io @clock",
    ],
    "UMask": ["0077"],
    "IPAddressDeny": ["any"],
}
NETWORK = {
    "fedrank-agent": {"PrivateNetwork": ["yes"], "RestrictAddressFamilies": ["AF_UNIX"]},
    "fedrank-node": {
        "IPAddressAllow": ["127.0.0.1", "192.0.2.10"],
        "RestrictAddressFamilies": ["AF_UNIX AF_INET AF_INET6"],
    },
    "flower-superlink": {
        "IPAddressAllow": ["127.0.0.1"],
        "RestrictAddressFamilies": ["AF_UNIX AF_INET AF_INET6"],
    },
}


def settings(unit):
    """Settings of a unit, each with all its values, in order."""
    text = (DEPLOY / f"{unit}.service").read_text(encoding="utf-8").replace("\\\n", "")
    found = {}
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_may_do_no_more_than_it_needs(unit):
    found = settings(unit)
    demanded = CONFINED | NETWORK[unit]
    assert {name: found.get(name) for name in demanded} == demanded
    assert found.get("IPAddressAllow") == demanded.get("IPAddressAllow")
    (state,) = found["StateDirectory"]
    assert found["ReadWritePaths"] == [f"/var/lib/{state}"]
    assert re.fullmatch(r"[1-8]G", *found["MemoryMax"])
    assert 0 < int(*found["TasksMax"]) <= 512
    assert found["User"] == found["Group"] != ["root"]


def test_the_node_and_the_agent_share_no_user_and_no_file_but_the_socket():
    agent, node = settings("fedrank-agent"), settings("fedrank-node")
    assert agent["User"] != node["User"]
    hidden = " ".join(node["InaccessiblePaths"]).split()
    for path in ("/etc/fedrank", "/var/lib/fedrank", "/srv/rankings", "/run/dbus"):
        assert f"-{path}" in hidden
    socket = (DEPLOY / "fedrank-agent.socket").read_text(encoding="utf-8")
    assert "SocketMode=0600" in socket
    assert f"SocketUser={node['User'][0]}" in socket


@pytest.mark.parametrize("name", ["agent", "node"])
def test_a_container_may_do_no_more_than_it_needs(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["ipc"] == "private"
    assert 0 < service["pids_limit"] <= 512
    assert re.fullmatch(r"[1-8]g", service["mem_limit"])
    assert service["memswap_limit"] == service["mem_limit"]
    assert all("noexec" in each for each in service["tmpfs"])
    assert not {"privileged", "cap_add", "devices", "pid", "ports"} & set(service)


def test_the_agents_container_has_no_network_and_the_nodes_no_rankings():
    agent, node = COMPOSE["services"]["agent"], COMPOSE["services"]["node"]
    assert agent["network_mode"] == "none"
    assert node["networks"] == ["outside"]
    shared = {each.split(":")[0] for each in agent["volumes"]} & {
        each.split(":")[0] for each in node["volumes"]
    }
    assert shared == {"socket"}
    assert "socket:/run/fedrank:ro" in node["volumes"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The units in a folder, with programs that are there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing: apt-get install systemd")
    folder = tmp_path_factory.mktemp("units")
    for file in [*DEPLOY.glob("*.service"), *DEPLOY.glob("*.socket")]:
        text = file.read_text(encoding="utf-8")
        assert file.suffix == ".socket" or "ExecStart=/opt/fedrank/bin/" in text
        text = re.sub(r"ExecStart=/opt/fedrank/bin/\S+", "ExecStart=/bin/true", text)
        (folder / file.name).write_text(text)
    return folder


def analyze(*arguments):
    return subprocess.run(
        ["systemd-analyze", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.nodes
def test_systemd_finds_nothing_wrong_with_the_units(installed):
    files = sorted(installed.iterdir())
    assert len(files) == 4
    done = analyze("verify", "--man=no", *files)
    ours = [line for line in done.stderr.splitlines() if re.search("fedrank|flower", line)]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.nodes
@pytest.mark.parametrize("unit", UNITS)
def test_the_exposure_is_at_most_what_the_page_says(installed, unit):
    page = (DOCS / "deploy.md").read_text(encoding="utf-8")
    (said,) = re.findall(rf"(?m)^\| `{unit}\.service` \| ([\d.]+) \|", page)
    done = analyze("security", "--offline=true", "--no-pager", installed / f"{unit}.service")
    (measured,) = re.findall(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert float(measured) <= float(said) <= 1.5
