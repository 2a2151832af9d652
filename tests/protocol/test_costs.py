"""What a run costs: the bytes of its messages as documented, and seconds for every stage."""

import pytest

from fedrank import Borda, Mallows, federate
from fedrank.protocol.envelope import OVERHEAD
from helpers.runs import SCHEMES, parties


def sizes(scheme, advertised, shared, masked, confirmed=None):
    """Bytes of each message up and down, as docs/protocol.md gives them.

    With identities, if the number of clients that confirmed is given.
    """
    frame, signed = 40, confirmed is not None
    signature = 64 * signed
    begin = 32 + 8 + 4 + 32 + 32 + 1 + len("start") + 4 + 2
    up = {
        "advertise": frame + 64,
        "share": frame + 32 + 32 * advertised + 80 * (advertised - 1) + signature,
        "mask": frame + -(-scheme.message_bits // 8),
    }
    down = {
        "advertise": frame + begin,
        "share": frame + 66 * advertised,
        "mask": frame + (114 + signature) * (shared - 1),
    }
    last = {"unmask": frame + 2 * masked}
    if signed:
        up["confirm"] = frame + 64
        down["confirm"] = last.pop("unmask")
        last = {"unmask": frame + 66 * confirmed}
    up["unmask"] = frame + 33 * shared
    more = OVERHEAD * signed
    return (
        {step: size + more for step, size in up.items()},
        {step: size + more for step, size in (down | last).items()},
    )


@pytest.mark.parametrize("identities", [False, True])
@pytest.mark.parametrize("kind", SCHEMES)
@pytest.mark.parametrize(("n", "clients"), [(1, 3), (13, 3), (13, 10)])
def test_bytes_are_the_lengths_of_the_messages(kind, n, clients, identities):
    scheme = SCHEMES[kind](n, clients)
    result = federate(parties(n, clients), scheme, identities=identities)
    confirmed = result.study.threshold if identities else None
    up, down = sizes(scheme, clients, clients, clients, confirmed)
    assert result.bytes_up.tolist() == [sum(up.values())] * clients
    assert result.bytes_down.tolist() == [sum(down.values())] * clients


def test_an_envelope_adds_what_the_documentation_says():
    # header, key, tag, signature
    assert OVERHEAD == 71 + 32 + 16 + 64


@pytest.mark.parametrize(("send", "up"), [("means", 3582), ("centroids", 3338)])
def test_bytes_for_the_papers_setting_are_those_of_the_documentation(send, up):
    result = federate(parties(978, 10, samples=2), "borda", send=send)
    assert set(result.bytes_up.tolist()) == {up}
    assert set(result.bytes_down.tolist()) == {1986}


@pytest.mark.parametrize("identities", [False, True])
def test_bytes_of_those_that_vanish_end_where_they_do(identities):
    scheme = Borda(7, 8)
    lost = {0: "share", 1: "mask", 2: "confirm" if identities else "unmask"}
    options = {"threshold": 5, "identities": identities}
    result = federate(parties(7, 8), scheme, dropouts=lost, **options)
    up, down = sizes(scheme, 8, 7, 6, 5 if identities else None)
    order = result.study.steps
    for client in range(8):
        reached = order[: order.index(lost[client])] if client in lost else order
        assert result.bytes_up[client] == sum(up[step] for step in reached)
        # A client is sent the request that it no longer answers.
        asked = order[: 1 + len(reached)]
        assert result.bytes_down[client] == sum(down[step] for step in asked)


@pytest.mark.parametrize("kind", SCHEMES)
def test_bytes_do_not_depend_on_samples_or_data(kind):
    scheme = SCHEMES[kind](11, 4)
    few = federate([Mallows(0.0, n=11).sample(1)] * 4, scheme)
    many = federate([Mallows(1.0, n=11).sample(m) for m in (9, 3, 5, 9)], scheme)
    assert few.bytes_up.tolist() == many.bytes_up.tolist()
    assert few.bytes_down.tolist() == many.bytes_down.tolist()


def test_in_the_clear_the_bytes_are_the_packed_message():
    scheme = Borda(11, 4)
    result = federate(parties(11, 4), scheme, secure=False, dropouts=[2])
    packed = -(-scheme.message_bits // 8)
    assert result.bytes_up.tolist() == [packed, packed, 0, packed]


def test_seconds_are_there_for_every_stage():
    secure = federate(parties(5, 4))
    steps = ("advertise", "share", "mask", "unmask")
    stages = {"decode", *steps, *(f"server {step}" for step in steps)}
    plain = federate(parties(5, 4), secure=False)
    assert set(secure.seconds) == set(plain.seconds) == stages
    assert all(s >= 0 for s in [*secure.seconds.values(), *plain.seconds.values()])
