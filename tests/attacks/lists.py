"""The server tells clients different lists of who shared and who survived (HARDENING H1).

The victim is given shares of t - 1 others only, so it masks against no more. Different clients,
asked with different lists, then give shares of the mask keys of different ones of these.
"""

from attacks.masks import pair_mask, rebuilt, self_mask, unmasked, unpack
from attacks.outcome import Attack, Refused, at
from attacks.parties import OTHERS, READS_INPUT, SECRET, colluder, honest, roster, study_of
from attacks.server import HostileServer, body, cut, revealed

VICTIM = 0


class Liar:
    """A server that shows each client two lists of its own, with some colluders' help."""

    def __init__(self, study, colluders):
        self.study, self.server = study, HostileServer(study)
        clients = range(len(study.roster))
        self.puppets = {i: colluder(study, i) for i in clients if i in colluders}
        self.clients = {
            i: honest(study, i, self.server.session) for i in clients if i not in colluders
        }
        self.keys = {i: body(each.advertise()) for i, each in self.clients.items()}
        self.keys |= {i: each.keys for i, each in self.puppets.items()}
        self.context = self.server.context(self.keys, roster(study))
        with at("share"):
            self.shares = {
                i: each.share(self.server.keys(i, self.keys)) for i, each in self.clients.items()
            }
        self.shares |= {i: each.shares(self.context, self.keys) for i, each in self.puppets.items()}

    def play(self, sharers, survivors):
        """Tell each honest client its two lists; returns the victim's input."""
        masked = {}
        with at("mask"):
            for i, each in self.clients.items():
                request = self.server.delivery(i, self.context, self.shares, sharers[i], self.keys)
                masked[i] = each.mask(request, SECRET if i == VICTIM else OTHERS)
        reveals, refused = self.asked(sharers, survivors)
        try:
            return self.read(masked[VICTIM], sharers, survivors, reveals)
        except LookupError:  # too few shares
            raise refused from None

    def asked(self, sharers, survivors):
        """What the clients give of their shares, and the last refusal."""
        signed, reveals, refused = {}, {}, None
        for i, each in self.clients.items():
            request = self.server.survivors(i, self.context, survivors[i])
            if self.study.signed:
                with at("confirm"):
                    signed[i] = body(each.confirm(request))
            else:
                with at("unmask"):
                    reveals[i] = each.unmask(request)
        for i in signed:
            request = self.confirmed(i, sharers[i], survivors[i], signed)
            try:
                with at("unmask"):
                    reveals[i] = self.clients[i].unmask(request)
            except Refused as error:
                refused = error
        return reveals, refused

    def confirmed(self, client, sharers, survivors, signed):
        """What comes closest to t confirmations of a client's own lists."""
        signed = signed | {
            i: each.confirmation(self.context, sharers, survivors)
            for i, each in self.puppets.items()
        }
        first = [client, *self.puppets, *self.clients]
        listed = [i for i in dict.fromkeys(first) if i in survivors][: self.study.threshold]
        return self.server.confirmed(client, self.context, {i: signed[i] for i in listed})

    def held(self, owner, half, reveals, sharers, survivors):
        """Shares of an owner's b (0) or s (1), from whoever gave one; too few are no use."""
        found = {}
        for i, reveal in reveals.items():
            if (owner in survivors[i]) == (half == 0) and owner in sharers[i]:
                found[i] = revealed(reveal, sharers[i])[owner]
        for i, each in self.puppets.items():
            _, sealed, _ = cut(self.shares[owner], owner, i, sorted(self.keys))
            opened = each.opened(self.context, owner, self.keys[owner][:32], sealed)
            found[i] = opened[32 * half : 32 * half + 32]
        enough = sorted(found)[: self.study.threshold]
        if len(enough) < self.study.threshold:
            raise LookupError
        return {i: found[i] for i in enough}

    def read(self, masked, *given):
        """Take off all masks of the victim."""
        sharers, survivors, reveals = given
        known, bits = (reveals, sharers, survivors), self.server.bits
        seed = rebuilt(self.held(VICTIM, 0, *known))
        found = [self_mask(seed, self.context, VICTIM, bits)]
        for i in sorted({*sharers[VICTIM]} - {VICTIM}):
            puppet = self.puppets.get(i)
            secret = rebuilt(self.held(i, 1, *known)) if puppet is None else puppet.s
            key = self.keys[VICTIM][32:]
            found.append(pair_mask(secret, key, self.context, VICTIM, i, bits))
        return unmasked(unpack(body(masked), bits), found, bits)


def two_lists(clients, threshold, colluders):
    """The attack with this many colluders, the last of the roster.

    The check: `Client.unmask` reveals only for t confirmations of this client's own two lists.
    """

    def play(version1):
        study = study_of(clients, threshold, signed=not version1)
        everybody, t = range(clients), study.threshold
        bad = range(clients - colluders, clients)
        targets = range(1, t - colluders)  # whom the victim masks against, beside colluders
        group = [VICTIM, *targets, *bad]
        sharers = {i: list(everybody) for i in everybody} | {VICTIM: group}
        left = dict.fromkeys(targets, t - colluders)  # shares of s that are missing
        survivors = {VICTIM: group}
        for i in range(1, clients - colluders):
            wanted = sorted({*targets} - {i}, key=lambda k: -left[k])[: clients - t]
            for k in wanted:
                left[k] -= 1
            survivors[i] = [j for j in everybody if j not in wanted]
        return Liar(study, {*bad}).play(sharers, survivors)

    return play


def split(clients, colluders):
    """Honest clients in two groups, each of which is t with the colluders.

    With 2t - L colluders both groups confirm, and nothing can prevent it: the bound is tight.
    """

    def play(version1):
        study = study_of(clients, signed=not version1)
        everybody, bad = range(clients), [*range(clients - colluders, clients)]
        good = [*range(clients - colluders)]
        one, two = [*good[: len(good) // 2], *bad], [*good[len(good) // 2 :], *bad]
        sharers = {i: one if i in one else list(everybody) for i in good}
        survivors = {i: one if i in one else two for i in good}
        return Liar(study, {*bad}).play(sharers, survivors)

    return play


def row(name, colluders, play, today, before=READS_INPUT[1], rust=""):
    who = f"server, {colluders} clients" if colluders else "server"
    return Attack(name, who, play, *READS_INPUT, before=before, today=today, rust=rust)


ATTACKS = (
    # No colluder just above L/2; L/8 at the default threshold; 2t - L - 1.
    *(
        row(
            f"two lists, {t} of 10",
            colluders,
            two_lists(10, t, colluders),
            "refused at unmask: signature",
            rust="shares_are_given_only_for_t_confirmations_of_ones_own_lists",
        )
        for t, colluders in ((6, 0), (7, 2), (7, 3))
    ),
    row(
        "two groups, 7 of 10",
        3,
        split(10, 3),
        "refused at mask: few",
        before="refused at mask: few",
        rust="false_deliveries_are_refused",
    ),
    row("two groups, 7 of 10", 4, split(10, 4), READS_INPUT[1]),  # one more than can be borne
)
