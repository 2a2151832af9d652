"""The driver over any transport: who is lost and why, and what is refused."""

import numpy as np
import pytest

from fedrank import Borda, Study, conduct, federate
from fedrank.exceptions import InputError, ProtocolError, Remedy, RunFailedError
from fedrank.transport import InProcess, Lost
from helpers.runs import (
    BOTH,
    CLIENTS,
    IDENTITIES,
    METHODS,
    ROSTER,
    SIGNED,
    SIGNED_METHODS,
    STUDY,
    clients,
    keys,
    signed,
)

both = pytest.mark.parametrize("study", BOTH.values(), ids=BOTH)
both_methods = pytest.mark.parametrize(
    "methods", [METHODS, SIGNED_METHODS], ids=["unsigned", "signed"]
)


class Changed:
    """A transport that changes some replies."""

    def __init__(self, inner, change):
        self.inner, self.change = inner, change

    def exchange(self, step, requests):
        return self.inner.exchange(step, requests) | self.change(step)


@both_methods
@pytest.mark.parametrize("name", METHODS)
def test_conducting_over_a_transport_is_federating(name, methods):
    study = methods[name]
    found = conduct(study, clients(study), rng=9, **keys(study))
    expected = federate(
        CLIENTS, study.method, fit_phi=study.fit_phi, rng=9, identities=study.signed
    )
    assert found.ranks.tobytes() == expected.ranks.tobytes()
    assert found.fit == expected.fit
    assert found.bytes_up.tolist() == expected.bytes_up.tolist()
    assert found.bytes_down.tolist() == expected.bytes_down.tolist()
    assert found.study == study
    if name == "kemeny, phi":
        assert found.fit is not None
        assert len(found.rounds) > 2


@both
def test_below_the_threshold_a_run_fails_and_says_who_was_lost(study):
    def lose(step):
        return {0: Lost("refused"), 3: Lost("unavailable")} if step.name == "mask" else {}

    with pytest.raises(RunFailedError) as failed:
        conduct(study, Changed(clients(study), lose), **keys(study))
    assert failed.value.code == "few"
    assert failed.value.problem.endswith("lost at mask: north (refused), west (unavailable)")
    assert failed.value.remedy is Remedy.THRESHOLD


@both
def test_a_client_that_is_not_in_the_replies_gave_none_in_time(study):
    class Slow(InProcess):
        def exchange(self, step, requests):
            replies = super().exchange(step, requests)
            if step.name == "share":
                del replies[1]
            return replies

    found = conduct(study, clients(study, kind=Slow), **keys(study))
    assert (found.dropped, found.reasons) == ({"east": "share"}, {"east": "no reply in time"})
    assert found.faults == []


def test_a_message_that_is_refused_costs_its_sender_alone():
    def noise(step):
        return {2: b"noise"} if step.name == "share" else {}

    found = conduct(STUDY, Changed(clients(STUDY), noise))
    assert (found.survivors, found.dropped) == (["north", "east", "west"], {"south": "share"})
    assert found.faults == [("south", "malformed")]
    assert found.reasons == {"south": "malformed"}


@pytest.mark.parametrize("with_identities", [False, True])
def test_a_sum_over_two_is_not_opened(with_identities):
    study = Study(Borda(12, 3), threshold=2)
    study = signed(study) if with_identities else study
    identities = IDENTITIES[:3] if with_identities else None
    lost = InProcess(
        study, CLIENTS[:3], bytes(32), dropouts={0: (0, "mask")}, identities=identities
    )
    asked = []

    class Watched:
        def exchange(self, step, requests):
            asked.append(step.name)
            return lost.exchange(step, requests)

    with pytest.raises(RunFailedError, match=r"only 2 clients are left; .* min_survivors = 3"):
        conduct(study, Watched(), **keys(study))
    assert asked == ["advertise", "share", "mask"]


@both_methods
@pytest.mark.parametrize("secure", [True, False])
def test_a_later_round_is_not_opened_over_other_survivors(methods, secure):
    study = methods["kemeny"]

    def lose(step):
        return {3: Lost("unavailable")} if (step.round, step.name) == (1, "mask") else {}

    inner = clients(study, secure=secure)
    mine = keys(study) if secure else {}
    found = conduct(study, Changed(inner, lose), rng=9, secure=secure, **mine)
    assert "round 1 (refine) was not opened: its survivors are not those" in found.note
    assert (found.dropped, found.reasons) == ({"west": (1, "mask")}, {"west": "unavailable"})
    assert [each.survivors for each in found.rounds] == [list(study.roster), []]
    assert "confirm" not in found.rounds[1].seconds
    assert "unmask" not in found.rounds[1].seconds
    borda = federate(CLIENTS, "borda", max_samples=10, rng=9)
    assert found.ranks.tolist() == borda.ranks.tolist()


@both_methods
def test_later_rounds_ask_the_survivors_of_the_first_only(methods):
    study = methods["kemeny"]
    asked = []
    inner = clients(study, dropouts={2: (0, "mask")})

    class Watched:
        def exchange(self, step, requests):
            asked.append((step, sorted(requests)))
            return inner.exchange(step, requests)

    found = conduct(study, Watched(), run=7, **keys(study))
    assert len(found.rounds) > 1
    assert all(step.run == 7 for step, _ in asked)
    assert all(who == [0, 1, 3] for step, who in asked if step.round > 0)
    assert [step.name for step, _ in asked] == list(study.steps) * len(found.rounds)


def test_a_sum_that_no_clients_can_have_sent_fails_the_run():
    study = Study(Borda(12, 4, send="sums", max_samples=10), roster=ROSTER)

    class Cheating(InProcess):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.parties[1].encode = lambda round: np.full(
                12, 2 ** round.scheme.segments[0].bits - 1, dtype=np.uint64
            )

    with pytest.raises(RunFailedError, match="the sum of round 0 cannot be decoded") as failed:
        conduct(study, Cheating(study, CLIENTS, bytes(32)))
    assert failed.value.code == "total"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"min_survivors": 0}, "min_survivors"),
        ({"min_survivors": "x"}, "min_survivors"),
        ({"run": -1}, "run"),
        ({"run": 2**64}, "run"),
        ({"secure": None}, "secure must be True or False"),
        ({"secure": 0}, "secure must be True or False"),
    ],
)
def test_arguments_are_checked(arguments, named):
    with pytest.raises(ValueError, match=named):
        conduct(STUDY, clients(STUDY), **arguments)
    if "run" not in arguments:
        with pytest.raises(ValueError, match=named):
            federate(CLIENTS, **arguments)


@pytest.mark.parametrize(
    ("replies", "named"),
    [
        (None, "must return a dict"),
        ([b"", b""], "must return a dict"),
        ({"north": b""}, "'north', which was not asked"),
        ({0: "text"}, "client 0 must be bytes or Lost, not str"),
    ],
)
def test_a_transport_that_returns_something_else_is_told(replies, named):
    class Odd:
        def exchange(self, step, requests):  # noqa: ARG002
            return replies

    with pytest.raises(ValueError, match=named):
        conduct(STUDY, Odd())


@pytest.mark.parametrize("wrong", [None, "{}", METHODS])
def test_what_is_not_a_study_or_a_transport_is_refused(wrong):
    with pytest.raises(ValueError, match="study must be a Study"):
        conduct(wrong, clients(STUDY))
    with pytest.raises(ValueError, match="transport must have a method exchange"):
        conduct(STUDY, wrong)


def test_replies_may_be_any_bytes_and_runs_have_numbers_of_their_own():
    seen = set()

    class Arrays(InProcess):
        def exchange(self, step, requests):
            seen.add(step.run)
            found = super().exchange(step, requests)
            return {client: bytearray(reply) for client, reply in found.items()}

    for _ in range(2):
        assert conduct(STUDY, Arrays(STUDY, CLIENTS, bytes(32))).survivors == list(STUDY.roster)
    assert len(seen) == 2


def test_a_client_that_refuses_is_lost_alone():
    inner = clients(STUDY)

    def refuse(_round):
        raise ProtocolError("no", "refused")

    inner.parties[2].encode = refuse
    found = conduct(STUDY, inner)
    assert (found.dropped, found.reasons) == ({"south": "mask"}, {"south": "refused"})
    plain = clients(STUDY, secure=False)
    plain.parties[1].encode = lambda _: np.zeros(0, dtype=np.uint64)
    plain.parties[1].answer = lambda step, _: b"x" if step.name == "mask" else b""
    found = conduct(STUDY, plain, secure=False)
    assert (found.survivors, found.faults) == (["north", "south", "west"], [("east", "malformed")])


def test_identities_are_for_secure_runs_only():
    inner = clients(SIGNED)
    with pytest.raises(InputError, match="identity is for secure runs only") as caught:
        conduct(SIGNED, inner, secure=False, **keys(SIGNED))
    assert (caught.value.parameter, caught.value.value) == ("identity", None)
    with pytest.raises(InputError, match="identities is for secure runs only") as caught:
        federate([[[0, 1]]] * 3, identities=True, secure=False)
    assert caught.value.parameter == "identities"
