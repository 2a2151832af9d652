"""Make secagg.json, envelope.json and identity.json, computed from docs/protocol.md.

Nothing here shares code with the Rust crate: see `wire.py`, `secagg_session.py` and
`envelope.py`. `python -m helpers.secagg`, in the folder tests, writes the files.
"""

import json

from helpers import envelope
from helpers.paths import VECTORS
from helpers.secagg_session import Session
from helpers.wire import Identity

STEPS = ("advertise", "share", "mask", "confirm", "unmask")


def sessions():
    """Return the two sessions; of the signed one also its round 0, which goes before it."""
    unsigned = Session(bytes(range(32)), 4, 3, 3, lost={3: "mask"})
    known = {
        "study": bytes(range(32, 64)),
        "clients": 5,
        "threshold": 3,
        "run": 2**32 + 7,
        "identities": [Identity.number(100 + i) for i in range(5)],
    }
    start = Session(**known, lost={3: "mask"})
    signed = Session(
        **known,
        lost={3: "mask", 1: "confirm"},
        round=1,
        stage="refine",
        order=(3, 0, 6, 1, 5, 2, 4),
        previous=start,
    )
    return unsigned, signed


def sealed_case(session, sender, recipient, direction, step, names, body):
    head = envelope.header(direction, session.digest, session.session, STEPS.index(step), *names)
    blob = envelope.seal(sender, recipient.sealing, head, body)
    assert envelope.open_envelope(recipient, sender.verifying, blob) == (head, body)
    return {
        "sender": sender.line,
        "recipient": recipient.line,
        "direction": direction,
        "round_digest": session.digest.hex(),
        "session": session.session.hex(),
        "step": STEPS.index(step),
        "sender_id": names[0],
        "recipient_id": names[1],
        "body": body.hex(),
        "blob": blob.hex(),
    }


def envelopes(session):
    """Return Begin on its way to client 2, and the masked input of client 4 on its way back."""
    boss, clients = Identity.number(200), session.identities
    there, back = (envelope.COORDINATOR, 2), (4, envelope.COORDINATOR)
    yield sealed_case(
        session, boss, clients[2], envelope.TO_CLIENT, "advertise", there, session.begin[2]
    )
    yield sealed_case(
        session, clients[4], boss, envelope.TO_SERVER, "mask", back, session.masked[4]
    )


def identities():
    for n in (100, 101, 200):
        identity = Identity.number(n)
        yield {
            "private": identity.line,
            "public": identity.public_line,
            "fingerprint": identity.fingerprint,
        }


def main(folder=VECTORS):
    envelope.check_hpke()
    unsigned, signed = sessions()
    files = {
        "secagg": {"unsigned": unsigned.vectors(), "signed": signed.vectors()},
        "envelope": {
            "about": "Sealed messages of the signed session of secagg.json. Lines are private "
            "ones; the step is an index into the five steps, and id 65535 the coordinator.",
            "cases": list(envelopes(signed)),
        },
        "identity": {
            "about": "Lines of identities. The private bytes are the ChaCha20 keystream of a key "
            "of 32 equal bytes: 100, 101, 200.",
            "cases": list(identities()),
        },
    }
    for name, content in files.items():
        text = json.dumps(content, indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
