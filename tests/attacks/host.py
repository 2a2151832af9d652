"""Who carries the messages reads them, changes them, swaps them, cuts them or sends them again."""

from contextlib import contextmanager
from unittest import mock

from attacks.masks import pack, rebuilt, self_mask, unmasked, unpack, widths
from attacks.outcome import NOT_PLAYED, Attack
from attacks.server import body, revealed
from attacks.session import session_of, sum_of
from attacks.stranger import sealed
from fedrank.protocol.envelope import Envelopes, header
from helpers.wire import message

SHIFT = [1, 0, 0, 0]
LAST = 3
TAKEN = "is taken"


def eavesdrop(version1):
    """The host adds up what it carries, as the server does; returns the sum, if it reads it.

    The check: envelopes are sealed (`Envelopes.seal`).
    """
    seen = {}

    def carry(step, client, direction, content):
        if direction == "up":
            seen[step, client] = content
        return content

    session = session_of(version1, carry=carry)
    session.total()
    bits, clients = widths(session.study.method), range(4)
    context = seen["share", 0][4:36]
    masked = [unpack(body(seen["mask", i]), bits) for i in clients]
    given = {i: revealed(seen["unmask", i], clients) for i in clients}
    masks = []
    for owner in clients:
        if any(owner not in each for each in given.values()):
            return None
        seed = rebuilt({i: given[i][owner] for i in range(3)})
        masks.append(self_mask(seed, context, owner, bits))
    return unmasked([sum(column) for column in zip(*masked, strict=True)], masks, bits)


def shift(version1):
    """The host adds a number to a masked input; returns the sum that the server then has.

    The check: an envelope is sealed and signed (`Envelopes.open`).
    """

    def carry(step, client, direction, content):
        if (step, client, direction) != ("mask", LAST, "up"):
            return content
        bits = widths(session.study.method)
        found = zip(unpack(body(content), bits), SHIFT, strict=False)
        forged = message(5, LAST, content[4:36], pack([a + b for a, b in found], bits))
        if session.study.signed:
            return sealed(session.server, step, LAST, forged, up=True)
        return forged

    session = session_of(version1, carry=carry)
    return session.total()


def disturbed(change):
    """Change what goes up at the step `mask`, or down at the step `unmask`."""

    def play(version1):
        kept = {}

        def carry(step, client, direction, content):
            kept[step, client, direction] = content
            return change(kept, step, client, direction, content)

        session_of(version1, carry=carry).total()
        return TAKEN

    return play


def swap(kept, step, client, direction, content):
    """Another client's envelope in a client's name.

    Three checks refuse it, each without the others: the sender in the head, the signature, and the
    sender in the message.
    """
    here = (step, client, direction) == ("mask", 1, "up")
    return kept["mask", 0, "up"] if here else content


def back(kept, step, client, direction, content):
    """An envelope is sent back to where it came from.

    Two checks refuse it, each without the other: the direction in the head, and the seal.
    """
    here = (step, client, direction) == ("mask", 1, "up")
    return kept["mask", 1, "down"] if here else content


def again(kept, step, client, direction, content):
    """An envelope of the step before. The check: the step is compared."""
    here = (step, client, direction) == ("mask", 1, "up")
    return kept["share", 1, "up"] if here else content


def cut(_, step, client, direction, content):
    """Half of an envelope. The check: its seal."""
    here = (step, client, direction) == ("unmask", 1, "down")
    return content[: len(content) // 2] if here else content


def flip(_, step, client, direction, content):
    """One bit of an envelope. The check: its seal."""
    here = (step, client, direction) == ("mask", 1, "up")
    return content[:-5] + bytes([content[-5] ^ 1]) + content[-4:] if here else content


@contextmanager
def without_head():
    """Open envelopes whatever is written on them."""
    with mock.patch.object(Envelopes, "_check", lambda _, blob, *__: header(blob)):
        yield


def row(name, change, at, before=NOT_PLAYED, **check):
    today = f"refused at {at}: envelope"
    return Attack(name, "host", disturbed(change), TAKEN, TAKEN, before, today, **check)


SUM = sum_of(4)
SHIFTED = [a + b for a, b in zip(SUM, SHIFT, strict=True)]
ATTACKS = (
    Attack(
        "read the sum on its way",
        "host",
        eavesdrop,
        SUM,
        "reads the sum",
        before="reads the sum",
        today="gets noise",
        lost="gets noise",
        rust="only_the_recipient_opens_it",
    ),
    Attack(
        "change a masked input",
        "host",
        shift,
        SHIFTED,
        "shifts the sum",
        before="shifts the sum",
        today="refused at mask: envelope",
        rust="only_the_sender_signs_it",
    ),
    row("another client's envelope", swap, "mask", rust="only_the_sender_signs_it"),
    row("envelope sent back", back, "mask", rust="only_the_recipient_opens_it"),
    row("envelope of an older step", again, "mask", before=TAKEN, without=without_head),
    row("half an envelope", cut, "unmask", rust="nothing_may_be_missing_or_too_much"),
    row("a bit of an envelope", flip, "mask", rust="no_bit_may_change"),
)
