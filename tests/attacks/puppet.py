"""A client that the attacker plays by hand: it knows all of its secrets, and checks nothing.

Written with the primitives of `helpers.wire`, from docs/protocol.md.
"""

import os

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from helpers.secagg_session import derive, times
from helpers.wire import agree, ids, keystream, message, public, tagged, u16


class Puppet:
    """One client of a session.

    Parameters
    ----------
    me : int
        Its number in the roster.
    threshold : int
        Of the study.
    identity : helpers.wire.Identity, optional
        By which it signs. That of the roster if it colludes, another one if it is played.
    """

    def __init__(self, me, threshold, identity=None):
        self.me, self.threshold, self.identity = me, threshold, identity
        self.c, self.s, self.b, self.p = (os.urandom(32) for _ in range(4))

    @property
    def keys(self):
        return public(self.c) + public(self.s)

    def advertise(self, session):
        return message(1, self.me, session, self.keys)

    def share(self, context, holder):
        """Its share for a holder: of b, then of s."""
        seed = derive(self.p, context, b"polynomials", self.me, self.me)
        stream = keystream(seed, 64 * (self.threshold - 1))
        terms = [self.b + self.s]
        terms += [stream[64 * k : 64 * k + 64] for k in range(self.threshold - 1)]
        out = b""
        for at in range(0, 64, 2):
            value, power = 0, 1
            for term in terms:
                value ^= times(int.from_bytes(term[at : at + 2], "little"), power)
                power = times(power, holder + 1)
            out += u16(value)
        return out

    def prints(self, context, holder):
        dealt, who = self.share(context, holder), u16(self.me) + u16(holder)
        halves = [dealt[:32], dealt[32:]]
        return b"".join(
            tagged(b"fingerprint", context, who, bytes([k]), half)[:16]
            for k, half in enumerate(halves)
        )

    def sealed(self, context, holder, key):
        """Its share for a holder, of whose transport key the public half is given."""
        secret = derive(agree(self.c, key), context, b"transport", self.me, holder)
        associated = context + u16(self.me) + u16(holder)
        return ChaCha20Poly1305(secret).encrypt(bytes(12), self.share(context, holder), associated)

    def opened(self, context, owner, key, sealed):
        """The share that another client sealed for this one."""
        secret = derive(agree(self.c, key), context, b"transport", owner, self.me)
        associated = context + u16(owner) + u16(self.me)
        return ChaCha20Poly1305(secret).decrypt(bytes(12), sealed, associated)

    def signed(self, context):
        """The signature that goes with its shares, empty in unsigned mode."""
        return self.identity.sign(tagged(b"share", context, u16(self.me))) if self.identity else b""

    def shares(self, context, keys):
        """Its message of shares; keys are everybody's, by number."""
        body = tagged(b"seed", context, u16(self.me), self.b)
        body += b"".join(self.prints(context, j) for j in sorted(keys))
        others = [j for j in sorted(keys) if j != self.me]
        body += b"".join(self.sealed(context, j, keys[j][:32]) for j in others)
        return message(3, self.me, context, body + self.signed(context))

    def confirmation(self, context, sharers, survivors):
        """Its signature over any two lists."""
        lists = tagged(b"sharers", ids(sharers)), tagged(b"survivors", ids(survivors))
        return self.identity.sign(tagged(b"confirm", context, u16(self.me), *lists))
