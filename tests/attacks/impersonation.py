"""The server plays other clients to a victim, all of them or some."""

from attacks.masks import pair_mask, rebuilt, self_mask, unmasked, unpack
from attacks.outcome import Attack, at
from attacks.parties import OTHERS, READS_INPUT, SECRET, honest, impostor, roster, study_of
from attacks.server import HostileServer, body, cut, revealed

VICTIM = 0


def self_play(version1):
    """The server plays all other clients, so it holds t shares of the victim's seed.

    The check: `Client.mask` verifies the signature of every share that it is given.
    """
    study = study_of(5, signed=not version1)
    server = HostileServer(study)
    return played(study, server, honest(study, VICTIM, server.session))


def played(study, server, victim):
    """Play all other clients to a victim; returns its input."""
    puppets = {i: impostor(study, i) for i in range(1, len(study.roster))}
    keys = {i: each.keys for i, each in puppets.items()}
    with at("advertise"):
        keys[VICTIM] = body(victim.advertise())
    context = server.context(keys, roster(study))
    with at("share"):
        dealt = victim.share(server.keys(VICTIM, keys))
    shares = {i: each.shares(context, keys) for i, each in puppets.items()}
    with at("mask"):
        request = server.delivery(VICTIM, context, shares, keys, keys)
        masked = victim.mask(request, SECRET)
    held = {}
    for i, each in puppets.items():
        _, sealed, _ = cut(dealt, VICTIM, i, sorted(keys))
        held[i] = each.opened(context, VICTIM, keys[VICTIM][:32], sealed)[:32]
    return without_masks(server, context, masked, puppets, keys, rebuilt(held))


def in_the_middle(version1):
    """The server replaces the keys of t - 1 clients, for the victim only.

    The others are shown the true keys, and give an honest sum without the victim. The victim itself
    gives the last share of its seed that is missing. The check: as in `self_play`; a true
    signature is over the true keys, and a false one is not of the roster's identity.
    """
    study = study_of(7, signed=not version1)  # threshold 5
    server = HostileServer(study)
    clients = {i: honest(study, i, server.session) for i in range(7)}
    true = {i: body(each.advertise()) for i, each in clients.items()}
    puppets = {i: impostor(study, i) for i in range(1, study.threshold)}
    shown = true | {i: each.keys for i, each in puppets.items()}
    context, victim = server.context(shown, roster(study)), clients[VICTIM]
    with at("share"):
        dealt = victim.share(server.keys(VICTIM, shown))
        among_others(study, server, clients, true)
    shares = {i: each.shares(context, shown) for i, each in puppets.items()}
    group = [VICTIM, *puppets]
    with at("mask"):
        masked = victim.mask(server.delivery(VICTIM, context, shares, group, shown), SECRET)
    with at("unmask"):
        reveal = victim.unmask(server.survivors(VICTIM, context, group))
    held = {VICTIM: revealed(reveal, group)[VICTIM]}
    for i, each in puppets.items():
        _, sealed, _ = cut(dealt, VICTIM, i, sorted(shown))
        held[i] = each.opened(context, VICTIM, true[VICTIM][:32], sealed)[:32]
    return without_masks(server, context, masked, puppets, true, rebuilt(held))


def among_others(study, server, clients, keys):
    """What the others see until the masked input: an honest session that the victim left."""
    rest, context = range(1, 7), server.context(keys, roster(study))
    shares = {i: clients[i].share(server.keys(i, keys)) for i in rest}
    for i in rest:
        clients[i].mask(server.delivery(i, context, shares, rest, keys), OTHERS)


def without_masks(server, context, masked, puppets, keys, seed):
    """The victim's input, if all it masked against are puppets."""
    bits = server.bits
    found = [self_mask(seed, context, VICTIM, bits)]
    for i, each in puppets.items():
        found.append(pair_mask(each.s, keys[VICTIM][32:], context, VICTIM, i, bits))
    return unmasked(unpack(body(masked), bits), found, bits)


READS, SIGNATURE = READS_INPUT[1], "refused at mask: signature"
RUST = "one_wrong_signature_in_a_delivery_refuses_all_of_it"
ATTACKS = (
    Attack(
        "play all other clients",
        "server",
        self_play,
        *READS_INPUT,
        before=READS,
        today=SIGNATURE,
        rust=RUST,
    ),
    Attack(
        "replace the keys of t - 1",
        "server",
        in_the_middle,
        *READS_INPUT,
        before=READS,
        today=SIGNATURE,
        rust=RUST,
    ),
)
