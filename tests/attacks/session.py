"""An honest session of real clients and a real server, which the attacker watches or disturbs."""

from attacks.outcome import at
from attacks.parties import COORDINATOR, OTHERS, SECRET, as_product, honest, identity, study_of
from fedrank.protocol.envelope import envelopes
from fedrank.protocol.secagg import Server

VICTIM = 0


class Session:
    """All parties of one session; every request and reply is kept, by step and client.

    ``carry`` sees each message that crosses machines, as ``carry(step, client, direction,
    content)``, and returns what arrives instead. In a signed study messages are in envelopes.
    """

    def __init__(self, study, run=1, carry=None, round=None):
        round = study.round(0) if round is None else round
        self.study, self.server = study, Server(round, run)
        # Of later rounds and other methods the messages do not matter.
        entries = sum(each.entries for each in round.scheme.segments)
        self.is_known = entries == len(SECRET) and round.number == 0
        self.message = [0] * entries
        self.carry = carry or (lambda _step, _client, _direction, content: content)
        roster = range(len(study.roster))
        session = self.server.session
        self.clients = {i: honest(study, i, session, round) for i in roster}
        signs = study.signed
        keys = {i: as_product(identity(i)) if signs else None for i in (*roster, COORDINATOR)}
        self.coordinator = envelopes(study, None, keys[COORDINATOR])
        self.envelopes = {i: envelopes(study, i, keys[i]) for i in roster}
        self.requests = dict.fromkeys(roster, b"")
        self.asked, self.replied = {}, {}

    @property
    def place(self):
        return bytes.fromhex(self.server.round.digest), self.server.session

    def down(self, step, client, request):
        """The way of a request to a client."""
        if self.coordinator is not None:
            request = self.coordinator.seal(request, step, *self.place, client=client)
        request = self.carry(step, client, "down", request)
        if self.coordinator is not None:
            request = self.envelopes[client].open(request, step, *self.place)
        return request

    def up(self, step, client, reply):
        """The way of a reply to the server."""
        if self.coordinator is not None:
            reply = self.envelopes[client].seal(reply, step, *self.place)
        reply = self.carry(step, client, "up", reply)
        if self.coordinator is not None:
            reply = self.coordinator.open(reply, step, *self.place, client=client)
        return reply

    def answer(self, step, client, request):
        """What a real client answers."""
        victim = self.clients[client]
        if step == "advertise":
            return victim.advertise()
        if step == "mask":
            known = SECRET if client == VICTIM else OTHERS
            return victim.mask(request, known if self.is_known else self.message)
        return getattr(victim, step)(request)

    def take(self, step, but=()):
        """Everybody takes a step, but for some; then it is closed."""
        self.asked[step], self.replied[step] = self.requests, {}
        for client, request in self.requests.items():
            with at(step):
                reply = self.answer(step, client, self.down(step, client, request))
                self.replied[step][client] = reply
                if client not in but:
                    self.server.receive(client, self.up(step, client, reply))
        self.requests = self.server.close_step()

    def until(self, step):
        """All steps before this one."""
        for each in self.study.steps[: self.study.steps.index(step)]:
            self.take(each)
        return self

    def total(self):
        """All steps, and the sum."""
        for step in self.study.steps:
            self.take(step)
        return self.server.result()[0].tolist()


def session_of(version1, clients=4, **more):
    return Session(study_of(clients, signed=not version1), **more)


def sum_of(clients):
    """What the sum of an honest session is."""
    return [a + (clients - 1) * b for a, b in zip(SECRET, OTHERS, strict=True)]
