"""A masked input that came late is used, though its client is taken for a dropout."""

from attacks.masks import pair_mask, rebuilt, self_mask, unmasked, unpack, widths
from attacks.outcome import Attack, at
from attacks.parties import READS_INPUT, as_product, identity
from attacks.server import body, revealed
from attacks.session import VICTIM, session_of
from fedrank.protocol.secagg import Client
from helpers.wire import ids, message, u16


def left_out(version1):
    """The victim's input comes late: the others give s of the victim, whose b stays hidden."""
    session = session_of(version1).until("mask")
    session.take("mask", but=[VICTIM])
    late = session.replied["mask"][VICTIM]
    for step in session.study.steps[3:]:
        session.take(step)
    context = late[4:36]
    secret = rebuilt(given(session.replied["unmask"], range(4)))
    return context, late, secret, session


def masked_twice(version1):
    """What the victim's late input is with the masks of its pairs off.

    The check: the second mask, of the seed b, of which nobody gives shares for a dropout.
    """
    context, late, secret, session = left_out(version1)
    bits = widths(session.study.method)
    return unmasked(unpack(body(late), bits), pair_masks(secret, session, context, bits), bits)


def both_secrets(version1):
    """Then the others are asked again, with the victim among the survivors: for its b.

    The check: a client answers one list of survivors in a session.
    """
    context, late, secret, session = left_out(version1)
    return second_list(context, late, secret, session)


def by_thieves(version1):
    """The same with all other clients taken back, by whoever can put older states in place.

    It shows that the check of `both_secrets` is what keeps the input: states must be used once.
    """
    session = session_of(version1).until("mask")
    session.take("mask", but=[VICTIM])
    kept = {i: each.state() for i, each in session.clients.items()}
    late = session.replied["mask"][VICTIM]
    for step in session.study.steps[3:]:
        session.take(step)
    secret = rebuilt(given(session.replied["unmask"], range(4)))
    for i, state in kept.items():
        signer = as_product(identity(i)) if session.study.signed else None
        session.clients[i] = Client.resume(session.study.round(0), state, signer)
    return second_list(late[4:36], late, secret, session)


def second_list(context, late, secret, session):
    """Ask all four with all four as survivors; returns the victim's input."""
    requests = {i: message(6, i, context, ids(range(4))) for i in range(4)}
    if session.study.signed:
        with at("confirm"):
            signed = {i: body(session.clients[i].confirm(each)) for i, each in requests.items()}
        for i in requests:
            three = sorted({0, 1, i} | {2}) if i < 3 else [0, 1, 3]
            entries = b"".join(u16(each) + signed[each] for each in three)
            requests[i] = message(12, i, context, entries)
    # The victim's own state is not asked for: three of the others are the threshold.
    others = [i for i in requests if i != VICTIM]
    with at("unmask"):
        reveals = {i: session.clients[i].unmask(requests[i]) for i in others}
    bits = widths(session.study.method)
    found = pair_masks(secret, session, context, bits)
    found.append(self_mask(rebuilt(given(reveals, range(4))), context, VICTIM, bits))
    return unmasked(unpack(body(late), bits), found, bits)


def given(reveals, sharers):
    """Three shares of a secret of the victim."""
    found = {i: revealed(each, sharers)[VICTIM] for i, each in reveals.items() if i != VICTIM}
    return {i: found[i] for i in sorted(found)[:3]}


def pair_masks(secret, session, context, bits):
    keys = {i: body(each)[32:] for i, each in session.replied["advertise"].items()}
    return [pair_mask(secret, keys[i], context, VICTIM, i, bits) for i in (1, 2, 3)]


READS, NOISE = READS_INPUT[1], "gets noise"
ATTACKS = (
    Attack(
        "late input as a dropout's",
        "server",
        masked_twice,
        *READS_INPUT,
        before=NOISE,
        today=NOISE,
        lost=NOISE,
        rust="masked_messages_are_uniform_and_runs_independent",
    ),
    Attack(
        "late input, second list",
        "server",
        both_secrets,
        *READS_INPUT,
        before="refused at unmask: conflict",
        today="refused at confirm: conflict",
        rust="one_list_of_survivors_is_confirmed",
    ),
    # With all others' states taken back: why a state must be used once.
    Attack(
        "late input, second list",
        "server, thieves of 3 stores",
        by_thieves,
        *READS_INPUT,
        before=READS,
        today=READS,
    ),
)
