"""Whom the attacks are played with: identities, studies, real clients and the attacker's own."""

import os
from functools import cache

from attacks.puppet import Puppet
from fedrank import Borda, Study, _core
from fedrank.protocol.identity import Identity
from fedrank.protocol.secagg import Client
from helpers import wire

ITEMS = ["ash", "birch", "cedar", "dogwood"]
SECRET = [7, 0, 3, 5]  # what the victim sends
OTHERS = [1, 2, 6, 4]  # what everybody else sends


@cache
def identity(number):  # noqa: ARG001  it is the cache's key
    """The identity of client `number`, by hand; the same one whenever it is asked for."""
    return wire.Identity(os.urandom(32), os.urandom(32))


COORDINATOR = 0xFFFF


def as_product(by_hand):
    """The same identity, as fedrank has it."""
    return Identity(_core.Identity.from_line(by_hand.line))


def study_of(clients, threshold=None, signed=True, method=None):
    """A study, of Borda by default; its roster has identities if it is signed."""
    method = Borda(len(ITEMS), clients) if method is None else method
    names = [f"party {i}" for i in range(clients)]
    if not signed:
        return Study(method, ITEMS, names, threshold)
    lines = {name: identity(i).public_line for i, name in enumerate(names)}
    return Study(method, ITEMS, lines, threshold, identity(COORDINATOR).public_line)


def roster(study):
    """Identities of a study's clients by hand, none if it is unsigned."""
    return [identity(i) for i in range(len(study.roster))] if study.signed else []


def honest(study, me, session, round=None):
    """A real client, in the first round unless told otherwise."""
    signer = as_product(identity(me)) if study.signed else None
    return Client(study.round(0) if round is None else round, me, session, signer)


def colluder(study, me):
    """A client on the attacker's side, with its true identity."""
    return Puppet(me, study.threshold, identity(me) if study.signed else None)


def impostor(study, me):
    """The attacker in the place of a client whose identity it has not."""
    own = wire.Identity(os.urandom(32), os.urandom(32))
    return Puppet(me, study.threshold, own if study.signed else None)


READS_INPUT = SECRET, "reads the input"  # what most attacks are for
