"""The proxy of docs/deploy, run by the real nginx before a real SuperLink."""

import getpass
import shutil
import socket
import ssl
import time

import numpy as np
import pytest

from fedrank import Borda, Identity, Study
from fedrank.transport.flower.join import free_port
from helpers.federation import LINK, Federation
from helpers.paths import TESTS

pytestmark = pytest.mark.nodes

CONFIG = TESTS.parent / "docs" / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
LABELS = ["ash", "birch", "cedar", "dogwood"]
ROSTER = ["north", "east", "south"]
COORDINATOR = Identity.generate()
KEYS = {name: Identity.generate() for name in ROSTER}
STUDY = Study(Borda(4, 3), LABELS, KEYS, coordinator=COORDINATOR)

MAIN = """
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/fedrank.conf;
}}
"""


class Proxied(Federation):
    """A federation whose nodes know the proxy only."""

    def __init__(self, folder, roster, coordinator):
        super().__init__(folder, roster, coordinator)
        self.proxy = free_port()
        with (self.home / "config.toml").open("a") as file:
            file.write(
                f'[superlink.proxy]\naddress = "{self.address}"\n'
                f'root-certificates = "{self.certificate}"\n'
            )

    @property
    def address(self):
        return f"127.0.0.1:{self.proxy}"

    def start_proxy(self):
        """Start nginx with the file of the docs; only names, ports and paths are replaced."""
        place = self.folder / "nginx"
        place.mkdir()
        text = CONFIG.read_text(encoding="utf-8")
        for old, new in {
            "listen 9443 ssl": f"listen 127.0.0.1:{self.proxy} ssl",
            "127.0.0.1:9092": f"127.0.0.1:{self.port}",
            "superlink.example.org": "localhost",
            "/etc/superlink/": f"{self.folder}/keys/",
        }.items():
            assert old in text
            text = text.replace(old, new)
        (place / "fedrank.conf").write_text(text)
        (place / "main.conf").write_text(MAIN.format(folder=place, user=getpass.getuser()))
        self.spawn("nginx", NGINX, "-p", place, "-c", place / "main.conf", "-e", "stderr")
        self.wait((place / "nginx.pid").exists, "nginx to start")

    def ask(self, port, path, method="POST"):
        """Send a path exactly as it is written; returns the status of the answer."""
        context = ssl.create_default_context(cafile=self.certificate)
        request = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            "Content-Type: application/protobuf\r\nContent-Length: 0\r\n\r\n"
        )
        with (
            socket.create_connection(("127.0.0.1", port), timeout=30) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as channel,
        ):
            channel.sendall(request.encode())
            with channel.makefile("rb") as reply:
                return int(reply.readline().split()[1])

    def reached(self, since):
        """Paths of the requests that the SuperLink has got, without those of its own helper."""
        time.sleep(0.5)  # until it has logged the last one
        lines = self.log("superlink")[since:].splitlines()
        paths = [line.split(" /", 1)[1].split()[0] for line in lines if "POST /" in line]
        return [f"/{path}" for path in paths if not path.startswith("v1/runtime/")]


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    if NGINX is None:
        pytest.skip("nginx is missing: apt-get install nginx-light")
    made = Proxied(tmp_path_factory.mktemp("proxied"), KEYS, COORDINATOR)
    rng = np.random.default_rng(3)
    try:
        made.start_link()
        made.register()  # at the SuperLink itself
        made.start_proxy()
        for name in ROSTER:
            ranks = [rng.permutation(4).tolist() for _ in range(12)]
            made.configure(name, LABELS, ranks, [STUDY])
        made.join_all()
        yield made
    finally:
        made.end()
        assert made.left() == []


def test_nodes_join_and_answer_through_the_proxy(proxied):
    _, status, result, _ = proxied.run(proxied.app("borda", STUDY))
    assert status["status"] == "finished:completed", proxied.log("nginx")
    assert [client["in_sum"] for client in result["clients"]] == [True] * 3
    passed = (proxied.folder / "nginx" / "access.log").read_text()
    assert 'POST /v1/fleet/push-messages HTTP/1.1" 200' in passed


def test_the_superlink_would_answer_whoever_reaches_it(proxied):
    assert proxied.ask(proxied.port, "/v1/control/list-runs") == 200
    assert proxied.flwr("list", LINK).returncode == 0


REFUSED = [
    "/",
    "/docs",
    "/openapi.json",
    "/v1/control/list-runs",
    "/v1/control/start-run",
    "/v1/runtime/acquire-task",
    "//v1/control/list-runs",
    "/v1//control//list-runs",
    "/v1/./control/list-runs",
    "/%76%31/%63ontrol/list-runs",
    "/v1%2fcontrol%2flist-runs",
    "/v1/fleet/../control/list-runs",
    "/v1/fleet/./../control/list-runs",
    "/v1/fleet//../control/list-runs",
    "/v1/fleet/x/../../control/list-runs",
    "/v1/fleet/%2e%2e/control/list-runs",
    "/v1/fleet/..%2fcontrol/list-runs",
    "/v1/fleet/%2E%2E%2Fcontrol%2Flist-runs",
    "/v1/fleet%2f..%2fcontrol/list-runs",
    "/v1/control/list-runs?/v1/fleet/",
    "/v1/control/list-runs#/../../fleet/",
    "/v1/control/list-runs;/v1/fleet/",
    "https://localhost/v1/control/list-runs",
    "https://localhost/v1/fleet/../control/list-runs",
]
PASSED = [
    "/v1/control/../fleet/nothing",
    "/v1/control/list-runs/..%2f..%2ffleet/nothing",
    "/v1/fleet/%252e%252e/control/list-runs",
    "/v1/fleet/%252e%252e%252fcontrol/list-runs",
    "/v1/fleet/..;/control/list-runs",
    "/v1/fleet/..%5ccontrol/list-runs",
]


def test_nothing_else_gets_through(proxied):
    since = len(proxied.log("superlink"))
    answers = {path: proxied.ask(proxied.proxy, path) for path in REFUSED}
    assert answers == dict.fromkeys(REFUSED, 403)
    assert all(path.startswith("/v1/fleet/") for path in proxied.reached(since))


def test_what_gets_through_has_the_path_that_was_judged(proxied):
    since = len(proxied.log("superlink"))
    answers = {path: proxied.ask(proxied.proxy, path) for path in PASSED}
    assert answers == dict.fromkeys(PASSED, 404)
    reached = proxied.reached(since)
    assert len(reached) >= len(PASSED)
    assert all(path.startswith("/v1/fleet/") for path in reached)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_the_method_of_nodes_gets_through(proxied, method):
    assert proxied.ask(proxied.proxy, "/v1/fleet/pull-messages", method) == 403


def test_flwr_fails_at_the_proxy(proxied):
    done = proxied.flwr("list", "proxy")
    assert done.returncode != 0
    assert "403" in done.stdout + done.stderr or "Forbidden" in done.stdout + done.stderr
