"""Idle, slow and many connections keep nobody else waiting."""

import contextlib
import socket
import threading

import pytest

from fedrank.agent import connections as tested
from fedrank.agent.connections import (
    LOG_SECONDS,
    MAX_CONNECTIONS,
    MAX_REQUEST_BYTES,
    Connections,
)
from fedrank.agent.socket import ask
from fedrank.exceptions import Code, RefusalError
from fedrank.transport import Step


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def door(tmp_path):
    """A listening socket whose requests are answered with themselves in capitals."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "a.sock"))
        server.listen()
        made = Connections(server, lambda asked: asked.upper(), Clock())
        made.path = tmp_path / "a.sock"
        with contextlib.ExitStack() as made.askers:
            yield made
        made.close()


def connect(door, content=b"", end=False):
    """Connect, say something, and say so if that was all."""
    asker = door.askers.enter_context(socket.socket(socket.AF_UNIX))
    asker.settimeout(0)
    asker.connect(str(door.path))
    asker.send(content)
    if end:
        asker.shutdown(socket.SHUT_WR)
    return asker


def turns(door, number=1):
    for _ in range(number):
        door.turn(most=0)


def is_dropped(asker):
    try:
        return asker.recv(1) == b""
    except BlockingIOError:
        return False


def test_a_request_is_answered_beside_idle_and_slow_ones(door):
    idle, slow = connect(door), connect(door, b"sl")
    quick = connect(door, b"quick", end=True)
    turns(door, 5)
    assert quick.recv(99) == b"QUICK"
    assert is_dropped(quick)
    slow.send(b"ow")
    slow.shutdown(socket.SHUT_WR)
    turns(door)
    assert slow.recv(99) == b"SLOW"
    assert not is_dropped(idle)


def test_the_first_byte_must_come_within_two_seconds_and_all_within_ten(door):
    idle, slow = connect(door), connect(door, b"s")
    turns(door, 3)
    door.clock.now = 1.9
    turns(door)
    assert not is_dropped(idle)
    door.clock.now = 2.0
    turns(door)
    assert (is_dropped(idle), is_dropped(slow)) == (True, False)
    slow.send(b"l")  # more of it gives no more time
    door.clock.now = 9.9
    turns(door)
    assert not is_dropped(slow)
    door.clock.now = 10.0
    turns(door)
    assert is_dropped(slow)


def test_a_turn_waits_no_longer_than_the_first_of_these_times(door, monkeypatch):
    connect(door)
    turns(door)
    waited = []
    monkeypatch.setattr(door._selector, "select", lambda seconds: waited.append(seconds) or [])
    door.clock.now = 0.5
    door.turn()
    assert waited == [1.5]


def test_of_too_many_the_one_that_did_nothing_for_longest_goes(door):
    busy = connect(door, b"b")
    idle = []
    for number in range(MAX_CONNECTIONS + 3):
        idle.append(connect(door))
        busy.send(b"u")
        door.clock.now = number / 100
        turns(door, 2)
    assert len(door.open) == MAX_CONNECTIONS
    assert [is_dropped(each) for each in idle] == [True] * 4 + [False] * (MAX_CONNECTIONS - 1)
    busy.shutdown(socket.SHUT_WR)
    turns(door)
    assert busy.recv(99) == b"B" + b"U" * len(idle)


def test_of_too_many_that_sent_something_the_one_that_sent_least_goes(door, caplog):
    long = connect(door, b"long" * 99)
    turns(door, 2)
    door.clock.now = 1.0  # it is the one that did nothing for longest
    held = []
    for _ in range(3 * MAX_CONNECTIONS):
        held.append(connect(door, b"{"))
        turns(door, 2)
    assert not is_dropped(long)
    assert sum(map(is_dropped, held)) == 2 * MAX_CONNECTIONS + 1
    long.shutdown(socket.SHUT_WR)
    turns(door)
    assert long.recv(999) == b"LONG" * 99
    # Whoever makes many does not fill the log.
    assert caplog.text.count("were pushed out") == 1
    held += [connect(door, b"{") for _ in range(2)]
    door.clock.now = 1.0 + LOG_SECONDS
    door.turn(most=0)
    held += [connect(door, b"{") for _ in range(MAX_CONNECTIONS + 1)]
    turns(door, MAX_CONNECTIONS + 4)
    assert caplog.text.count("were pushed out") == 2


def test_whoever_asks_asks_again_where_others_pushed_it_out(door):
    """The same request, which gets the same bytes."""
    door.respond = lambda asked: b"ok\n" + asked[-1:]
    read, answers, pushed = Connections.read, [], []

    def push_out(connections, connection):
        if len(pushed) < 3:
            pushed.append(connection)
            return connections.push_out(connection)
        return read(connections, connection)

    door.read = lambda connection: push_out(door, connection)
    asking = threading.Thread(
        target=lambda: answers.append(
            ask(door.path, "{}", Step(1, 0, "share"), b"x" * (1 << 22), timeout=30)
        )
    )
    asking.start()
    while asking.is_alive():
        door.turn(most=0.01)
    assert (answers, len(pushed)) == ([b"x"], 3)


def test_whoever_asks_gives_up_in_time_and_asks_nothing_that_is_too_long(door):
    door.read = door.push_out
    found = []

    def asked(length, timeout):
        try:
            ask(door.path, "{}", Step(1, 0, "share"), b"x" * length, timeout=timeout)
        except RefusalError as refusal:
            found.append((refusal.code, "longer than" in str(refusal)))

    asking = threading.Thread(target=asked, args=(1 << 22, 0.3))
    asking.start()
    while asking.is_alive():
        door.turn(most=0.01)
    asked(MAX_REQUEST_BYTES, 600.0)
    assert found == [(Code.UNAVAILABLE, False), (Code.UNAVAILABLE, True)]


def test_a_request_that_has_come_is_read_before_many_idle_ones_push_it_out(door):
    """They wait together while another one is answered."""
    honest = connect(door, b"honest", end=True)
    idle = [connect(door) for _ in range(5 * MAX_CONNECTIONS)]
    turns(door, len(idle))
    assert honest.recv(99) == b"HONEST"


def test_the_time_of_an_answer_is_not_taken_from_the_others(door):
    def long(asked):
        door.clock.now += 100.0
        return asked

    door.respond = long
    other = connect(door, b"ot")
    turns(door, 2)
    one = connect(door, b"one", end=True)
    turns(door, 2)
    assert one.recv(99) == b"one"
    other.send(b"her")
    other.shutdown(socket.SHUT_WR)
    turns(door)
    assert other.recv(99) == b"other"


def test_a_long_reply_is_written_in_parts_and_given_up_if_nobody_reads_it(door):
    door.respond = lambda asked: asked * (1 << 22)
    reader, sleeper = (connect(door, b"x", end=True) for _ in range(2))
    turns(door, 4)
    found = 0
    while not (done := found == 1 << 22):
        turns(door)
        found += len(reader.recv(1 << 20))
    assert done
    door.clock.now = 10.0
    turns(door)
    assert door.open == []
    assert not is_dropped(sleeper)  # what was sent is still there to be read


def test_a_request_that_is_too_long_is_not_kept(door, monkeypatch, caplog):
    monkeypatch.setattr(tested, "MAX_REQUEST_BYTES", 10)
    asker = connect(door, b"12345678901")
    turns(door, 3)
    assert is_dropped(asker)
    assert door.open == []
    assert "a request is longer than 10 bytes" in caplog.text


def test_those_who_only_look_or_leave_do_no_harm(door):
    connect(door).close()
    connect(door, b"half").close()
    turns(door, 6)
    assert door.open == []


def test_whoever_asks_waits_where_too_many_wait_already(door):
    """A full queue of connections is no reason to say that there is no agent."""
    for _ in range(10_000):
        try:
            connect(door)
        except BlockingIOError:
            break
    answers = []
    door.respond = lambda asked: b"ok\n" + asked[-1:]
    asking = threading.Thread(
        target=lambda: answers.append(ask(door.path, "{}", Step(1, 0, "share"), b"x", timeout=30))
    )
    asking.start()
    while asking.is_alive():
        door.turn(most=0.01)
    assert answers == [b"x"]
