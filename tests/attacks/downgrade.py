"""A server treats clients of a signed study as if it were an unsigned one."""

from contextlib import contextmanager
from unittest import mock

from attacks.agents import Asked, agents_of
from attacks.impersonation import played
from attacks.outcome import Attack, at
from attacks.parties import study_of
from attacks.runs import message_of, removed
from attacks.server import HostileServer, body
from attacks.session import VICTIM, session_of
from fedrank.agent import Policy
from fedrank.agent.store import Store
from fedrank.transport import Step
from helpers.wire import message

ENTRY, SIGNED_ENTRY = 114, 178  # bytes of an owner in a delivery
GIVEN = "is answered"


def unsigned_shares(version1):
    """Others' shares without their signatures.

    The check: `Client.mask` reads entries of the study's mode only.
    """
    session = session_of(version1).until("mask")
    asked = session.requests[VICTIM]
    found = body(asked)
    if session.study.signed:
        entries = [found[k : k + ENTRY] for k in range(0, len(found), SIGNED_ENTRY)]
        asked = message(4, VICTIM, asked[4:36], b"".join(entries))
    with at("mask"):
        session.clients[VICTIM].mask(asked, [0] * 4)
    return GIVEN


def no_confirmation(version1):
    """The list of survivors is sent for the step `unmask`, without `confirm` before it.

    The check: `Client.unmask` of a signed study answers confirmations only.
    """
    session = session_of(version1).until("mask")
    session.take("mask")
    with at("unmask"):
        session.clients[VICTIM].unmask(session.requests[VICTIM])
    return GIVEN


def no_envelope(version1):
    """A message that is in no envelope. The check: `Envelopes.open` takes nothing else."""
    session = session_of(version1).until("share")
    request = session.requests[VICTIM]
    with at("share"):
        if session.study.signed:
            request = session.envelopes[VICTIM].open(request, "share", *session.place)
        session.clients[VICTIM].share(request)
    return GIVEN


@contextmanager
def without_list():
    """Answer any study, whoever allowed it."""
    with without_policy(), mock.patch.object(Store, "allows", return_value=True):
        yield


@contextmanager
def without_policy():
    """Answer any study, as version 1 did if its digest was allowed."""
    with mock.patch.object(Policy, "objection", return_value=None):
        yield


class BehindAgent:
    """A victim of self-play that is an agent."""

    def __init__(self, agent, server):
        self.agent, self.server = agent, server

    def answer(self, step, request):
        study = self.server.study.to_json()
        return self.agent.answer(study, Step(self.server.run, 0, step), request)

    def advertise(self):
        return self.answer("advertise", self.server.begin(VICTIM))

    def share(self, request):
        return self.answer("share", request)

    def mask(self, request, _):
        return self.answer("mask", request)


def unsigned_twin(is_allowed):
    """An agent is asked for a study like a signed one that it takes part in, without identities.

    Then the server plays all other clients; returns the agent's message. The checks: `Agent.check`
    compares the digest, which binds the identities; and if the owner allowed the twin,
    ``allow_unsigned`` (`Policy.objection`).
    """

    def play(version1):
        signed, twin = study_of(4), study_of(4, signed=False)
        allowed = (signed.digest, twin.digest) if is_allowed or version1 else (signed.digest,)
        limits = {"studies": allowed, "allow_unsigned": version1}
        with removed(version1, without_policy), agents_of(signed, [VICTIM], **limits) as agents:
            server = HostileServer(twin)
            return played(twin, server, BehindAgent(agents[VICTIM], server))

    return play


def bare_begin(version1):
    """An agent is sent what opens a round of a signed study, in no envelope.

    The check: `Envelopes.open_begin`.
    """
    study = study_of(4, signed=not version1)
    with agents_of(study, [VICTIM]) as agents:
        asked = Asked(study, agents)
        with at("advertise"):
            step = Step(asked.run, 0, "advertise")
            agents[VICTIM].answer(study.to_json(), step, asked.requests[VICTIM])
    return GIVEN


def row(name, play, today, **check):
    return Attack(name, "server", play, GIVEN, GIVEN, GIVEN, today, **check)


READS = message_of(VICTIM, clients=4), "reads the input", "reads the input"
MODE = {"rust": "the_mode_cannot_be_changed"}
CONFIRM = {"rust": "no_share_is_given_before_the_survivors_are_confirmed"}
NOT_ALLOWED = "refused at advertise: refused"
ATTACKS = (
    row("shares without signatures", unsigned_shares, "refused at mask: malformed", **MODE),
    row("no step confirm", no_confirmation, "refused at unmask: order", **CONFIRM),
    row("no envelope", no_envelope, "refused at share: envelope", rust="any_envelope"),
    row(
        "no envelope, to an agent",
        bare_begin,
        "refused at advertise: protocol",
        rust="any_envelope",
    ),
    Attack(
        "unsigned twin of a study",
        "server",
        unsigned_twin(False),
        *READS,
        NOT_ALLOWED,
        without=without_list,
    ),
    Attack(
        "unsigned twin, allowed",
        "server",
        unsigned_twin(True),
        *READS,
        NOT_ALLOWED,
        without=without_policy,
    ),
)
