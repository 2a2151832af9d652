"""Messages of another session, round or study are sent again, as if they belonged here."""

from contextlib import contextmanager
from functools import wraps
from unittest import mock

from attacks.outcome import NOT_PLAYED, Attack, Refused, at
from attacks.parties import ITEMS, study_of
from attacks.puppet import Puppet
from attacks.server import body
from attacks.session import VICTIM, Session
from attacks.stranger import sealed
from fedrank import Borda, Kemeny
from fedrank.protocol import envelope
from helpers.wire import message, u16

TAKEN = "is taken for a new one"


def elsewhere(signed):
    """Sessions to repeat messages of, and the session to repeat them in.

    From another session of the same round, from the round before, and from another study over the
    same parties.
    """
    study = study_of(4, signed=signed)
    yield Session(study, run=1), Session(study, run=2)
    rounds = study_of(4, signed=signed, method=Kemeny(len(ITEMS), 4, rounds=1, max_samples=9))
    later = rounds.round(1, [range(len(ITEMS))], range(4))
    yield Session(rounds), Session(rounds, round=later)
    yield Session(study_of(4, signed=signed, method=Borda(len(ITEMS), 4, levels=3))), Session(study)


def from_elsewhere(step):
    """Play with an old session that went to its end, and a new one just before a step.

    The refusal must be the same wherever the message comes from.
    """

    def decorate(play):
        @wraps(play)
        def played(version1):
            refusals = {}
            for old, new in elsewhere(signed=not version1):
                old.total()
                try:
                    return play(old, new.until(step))
                except Refused as refused:
                    refusals[str(refused)] = refused
            if len(refusals) > 1:
                return refusals
            raise refusals.popitem()[1]

        return played

    return decorate


def context(session):
    """What is in the head of all but the first messages of a session."""
    return session.replied["share"][VICTIM][4:36]


@from_elsewhere("advertise")
def old_advertise(old, new):
    """The keys of a client that took part before: it would find foreign keys under its number.

    The check: `Server.receive` takes an Advertise of its own session only.
    """
    with at("advertise"):
        new.server.receive(VICTIM, old.replied["advertise"][VICTIM])
    return TAKEN


@from_elsewhere("share")
def old_keys(old, new):
    """Everybody's keys of an old session. The check: `Client.share` compares the session."""
    with at("share"):
        new.clients[VICTIM].share(old.asked["share"][VICTIM])
    return TAKEN


@from_elsewhere("share")
def forged_keys(old, new):
    """The same, with the head of the new session.

    The check: `Client.share` finds that its own keys are not in the list.
    """
    found = body(old.asked["share"][VICTIM])
    with at("share"):
        new.clients[VICTIM].share(message(2, VICTIM, new.server.session, found))
    return TAKEN


@from_elsewhere("mask")
def old_shares(old, new):
    """Others' shares of an old session, with the head of the new one.

    The check: signatures are over the context, and shares are sealed with it.
    """
    found = body(old.asked["mask"][VICTIM])
    with at("mask"):
        new.clients[VICTIM].mask(message(4, VICTIM, context(new), found), new.message)
    return TAKEN


@from_elsewhere("confirm")
def old_confirmations(old, new):
    """Others' confirmations of an old session, with the head of the new one.

    The check: `Client.unmask` verifies each over its own context.
    """
    request = new.requests[VICTIM]
    with at("confirm"):
        mine = body(new.clients[VICTIM].confirm(request))
    entries = body(old.asked["unmask"][VICTIM])
    entries = entries[:2] + mine + entries[66:]  # its own one is right
    with at("unmask"):
        new.clients[VICTIM].unmask(message(12, VICTIM, context(new), entries))
    return TAKEN


@from_elsewhere("confirm")
def caught_up(old, new):
    """Others' confirmations of an old session, for a client that missed this session's.

    It is what the opening of the next round would carry. The check: `Client.check_confirmed`.
    """
    with at("begin"):
        new.clients[VICTIM].check_confirmed(range(4), old.server.confirmations)
    return TAKEN


@from_elsewhere("share")
def old_envelope(old, new):
    """A coordinator's envelope of an old session of the same study.

    The check: `Envelopes.open` compares the session in the head.
    """
    blob = old.coordinator.seal(old.asked["share"][VICTIM], "share", *old.place, client=VICTIM)
    return opened(new, blob)


@from_elsewhere("share")
def relabelled_envelope(old, new):
    """The same, with the new session written on it.

    The check: the head is signed, and part of what is sealed.
    """
    blob = old.coordinator.seal(old.asked["share"][VICTIM], "share", *old.place, client=VICTIM)
    return opened(new, blob[:34] + new.server.session + blob[66:])


@from_elsewhere("share")
def envelope_of_another_study(_, new):
    """A coordinator's envelope of another study over the same parties, for the same step.

    The check: `Envelopes.open` compares the digest of the round in the head.
    """
    other = Session(study_of(5))
    place = other.place[0], new.place[1]
    return opened(new, other.coordinator.seal(b"keys", "share", *place, client=VICTIM))


def opened(session, blob):
    """What the victim makes of an envelope."""
    with at("share"):
        session.envelopes[VICTIM].open(blob, "share", *session.place)
    return TAKEN


@from_elsewhere("share")
def envelope_of_a_stranger(_, new):
    """Somebody who is no coordinator lists the keys of its own making to the victim.

    The check: `Envelopes.open` verifies the signature of the study's coordinator.
    """
    own = [Puppet(i, new.study.threshold) for i in (1, 2, 3)]
    mine = body(new.replied["advertise"][VICTIM])
    listed = u16(VICTIM) + mine + b"".join(u16(each.me) + each.keys for each in own)
    request = message(2, VICTIM, new.server.session, listed)
    with at("share"):
        if new.study.signed:
            request = new.envelopes[VICTIM].open(
                sealed(new.server, "share", VICTIM, request), "share", *new.place
            )
        new.clients[VICTIM].share(request)
    return TAKEN


@contextmanager
def without_session():
    """Take envelopes of any round and session."""
    with mock.patch.object(envelope, "check_session", return_value=None):
        yield


def row(name, who, play, before, today, **check):
    return Attack(name, who, play, TAKEN, TAKEN, before, today, **check)


FOREIGN = {"rust": "messages_of_other_sessions_and_studies_are_foreign"}
SIGNED_SHARES = {"rust": "one_wrong_signature_in_a_delivery_refuses_all_of_it"}
CONFIRMED = {"rust": "shares_are_given_only_for_t_confirmations_of_ones_own_lists"}
OWN_KEYS = {"rust": "false_lists_of_keys_are_refused"}
CAUGHT_UP = {"rust": "survivors_that_missed_the_confirmation_can_check_it"}
HEAD = {"rust": "another_header_is_refused"}
SENDER = {"rust": "only_the_sender_signs_it"}
SESSION = {"without": without_session}

AT_ADVERTISE, AT_SHARE = "refused at advertise: foreign", "refused at share: foreign"
KEY, FEW = "refused at share: key", "refused at mask: few"
AT_MASK, AT_UNMASK = "refused at mask: signature", "refused at unmask: signature"
AT_BEGIN, ENVELOPE = "refused at begin: signature", "refused at share: envelope"
ATTACKS = (
    row("old keys of one client", "host", old_advertise, NOT_PLAYED, AT_ADVERTISE, **FOREIGN),
    row("old keys of all", "server", old_keys, AT_SHARE, AT_SHARE, **FOREIGN),
    row("old keys of all, new head", "server", forged_keys, KEY, KEY, **OWN_KEYS),
    row("old shares, new head", "server", old_shares, FEW, AT_MASK, **SIGNED_SHARES),
    row("old confirmations", "server", old_confirmations, NOT_PLAYED, AT_UNMASK, **CONFIRMED),
    row("old confirmations in Begin", "server", caught_up, NOT_PLAYED, AT_BEGIN, **CAUGHT_UP),
    row("old envelope", "host", old_envelope, NOT_PLAYED, ENVELOPE, **SESSION),
    row("old envelope, new head", "host", relabelled_envelope, NOT_PLAYED, ENVELOPE, **HEAD),
    row(
        "envelope of another study",
        "host",
        envelope_of_another_study,
        NOT_PLAYED,
        ENVELOPE,
        **SESSION,
    ),
    row("speak for the coordinator", "host", envelope_of_a_stranger, TAKEN, ENVELOPE, **SENDER),
)
