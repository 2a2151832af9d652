"""Several runs of a study, whose sums tell more than one does; and runs that come to nothing."""

import time
from contextlib import ExitStack, contextmanager
from unittest import mock

from attacks.agents import SEED, Carrier, agents_of, driver, ranks_of
from attacks.masks import widths
from attacks.outcome import Attack, Refused
from attacks.parties import as_product, honest, identity, study_of
from fedrank import Rankings
from fedrank._random import round_rng, seed_bytes
from fedrank.agent.ledger import DAY, MASK, Ledger
from fedrank.exceptions import RunFailedError
from fedrank.protocol.envelope import envelopes, header
from fedrank.protocol.record import opening

VICTIM = 5
COLLUDER = 3
SPENT = "spends the day's runs"


@contextmanager
def without_one_list():
    """Forget that a round is opened over one list, in all runs."""
    with mock.patch.object(Ledger, "check_opening", return_value=None):
        yield


def runs_of_all_studies(ledger, study, but=None):  # noqa: ARG001
    """Count runs as version 1 did: opened ones too, and those of all studies."""
    since = time.time() - DAY
    recent = {entry.run for entry in ledger.entries if entry.step == MASK and entry.time > since}
    return len(recent - {but})


@contextmanager
def without_quotas_per_study():
    with mock.patch.object(Ledger, "runs_today", runs_of_all_studies):
        yield


def removed(version1, check):
    """The surroundings in which an agent follows version 1's rules."""
    stack = ExitStack()
    if version1:
        stack.enter_context(check())
    return stack


def subtraction(version1):
    """Six agents take part in a run, and all but one in a second one.

    Returns the difference of the sums. The check: `Ledger.check_opening`.
    """
    study = study_of(6)
    with removed(version1, without_one_list), agents_of(study) as agents:
        totals = []
        for run, but in enumerate([(), (VICTIM,)]):
            asked = driver(study, Carrier(study, agents, but), run)
            asked.conduct()
            totals.append(asked.totals[0])
    return (totals[0] - totals[1]).tolist()


def message_of(me, clients=6):
    """What an agent sends for its rankings."""
    method = study_of(clients).method
    rng = round_rng(seed_bytes(SEED), 0, 0, me)
    return method.encode(Rankings(ranks_of(me)), client=me, rng=rng).tolist()


class Vetoer:
    """A client that sends the largest values that there are, which no rankings have."""

    def __init__(self, study):
        self.study, self.client, self.run = study, None, None
        self.envelopes = envelopes(study, COLLUDER, as_product(identity(COLLUDER)))
        self.message = [2**each - 1 for each in widths(study.method)]

    def __call__(self, step, request):
        if step.name == "advertise":
            found = self.envelopes.open_begin(request)[1]
            session = opening(found, COLLUDER, step.run, step.round).session()
            self.client, self.round_digest = honest(self.study, COLLUDER, session), header(request)
            self.place = self.round_digest.round_digest, session
            reply = self.client.advertise()
        else:
            found = self.envelopes.open(request, step.name, *self.place)
            more = [self.message] if step.name == "mask" else []
            reply = getattr(self.client, step.name)(found, *more)
        return self.envelopes.seal(reply, step.name, *self.place)


def vetoed(study, agents, run):
    """A run that the vetoer brings to nothing; returns its sum, which the server has anyway."""
    carrier = Carrier(study, agents, others={COLLUDER: Vetoer(study)})
    asked, seen = driver(study, carrier, run), []
    decode = asked.decode
    asked.decode = lambda number, total, survivors: (
        seen.append(total),
        decode(number, total, survivors),
    )
    try:
        asked.conduct()
    except RunFailedError as failed:
        if failed.code == "total":
            return seen[0]
        raise
    raise AssertionError("the run was not brought to nothing")


def veto(version1):
    """A client makes runs fail until the day's runs are spent; returns whether they are.

    The check: `Ledger.runs_today` leaves out the first run that opened a round.
    """
    study = study_of(4)
    with removed(version1, without_quotas_per_study), agents_of(study, [0, 1, 2]) as agents:
        for run in range(3):
            vetoed(study, agents, run)
        try:
            vetoed(study, agents, 3)
        except Refused:
            return SPENT
    return "nothing"


def probe(version1):
    """The server takes the vetoer's sum, and repeats the run without client 2.

    It knows what the vetoer sent, so the difference of the sums is what client 2 sent. The check:
    the round counts as opened, though its sum could not be decoded (`Ledger.check_opening`).
    """
    study = study_of(4)
    with removed(version1, without_one_list), agents_of(study, [0, 1, 2]) as agents:
        first = vetoed(study, agents, 0)
        carrier = Carrier(study, agents, but=[2], others={COLLUDER: Vetoer(study)})
        asked, seen = driver(study, carrier, 1), []
        asked.decode = lambda number, total, survivors: seen.append(total)  # noqa: ARG005
        take_no_notice(asked)
    bits = widths(study.method)
    pairs = zip(first.tolist(), seen[0].tolist(), bits, strict=True)
    return [(a - b) % 2**width for a, b, width in pairs]


def take_no_notice(asked):
    """Run the first round; what is made of its sum does not matter."""
    running = asked.begin()
    asked.finish(running)


READS = "reads the input"
ATTACKS = (
    Attack(
        "a second run without one",
        "server",
        subtraction,
        message_of(VICTIM),
        READS,
        before=READS,
        today="refused at confirm: refused",
        without=without_one_list,
    ),
    Attack(
        "sums that cannot be decoded",
        "client",
        veto,
        SPENT,
        SPENT,
        before=SPENT,
        today="fails its run only",
        lost="fails its run only",
        without=without_quotas_per_study,
    ),
    Attack(
        "the same, then a run without one",
        "server, 1 client",
        probe,
        message_of(2, clients=4),
        READS,
        before=READS,
        today="refused at confirm: refused",
        without=without_one_list,
    ),
)
