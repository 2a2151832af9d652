"""Envelopes in others' names, by somebody whose keys are on no roster."""

import os

from attacks.parties import COORDINATOR, identity
from fedrank.protocol.secagg import SIGNED_STEPS
from helpers import envelope, wire


def sealed(server, step, client, content, up=False):
    """An envelope from the coordinator to a client, or the other way, with a stranger's signature.

    All but the signature is right. The server tells the round and the session.
    """
    stranger = wire.Identity(os.urandom(32), os.urandom(32))
    direction = envelope.TO_SERVER if up else envelope.TO_CLIENT
    sender, recipient = (client, COORDINATOR) if up else (COORDINATOR, client)
    place = bytes.fromhex(server.round.digest), server.session, SIGNED_STEPS.index(step)
    head = envelope.header(direction, *place, sender, recipient)
    return envelope.seal(stranger, identity(recipient).sealing, head, content)
