"""A client of flwr's secaggplus, made of its own utilities, with its four steps timed.

Quantizing is left out, and all clients are neighbours: the same vector, the same modulus, the
same number of keys, shares and masks as a client of `fedrank.protocol.secagg` has.
"""

import os
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np
from flwr.common import ndarray_to_bytes
from flwr.common.secure_aggregation.crypto.shamir import combine_shares, create_shares
from flwr.common.secure_aggregation.crypto.symmetric_encryption import (
    decrypt,
    encrypt,
    generate_shared_key,
)
from flwr.common.secure_aggregation.ndarrays_arithmetic import (
    parameters_addition,
    parameters_mod,
    parameters_subtraction,
)
from flwr.common.secure_aggregation.secaggplus_utils import (
    pseudo_rand_gen,
    share_keys_plaintext_concat,
    share_keys_plaintext_separate,
)
from flwr.supercore.primitives.asymmetric import (
    bytes_to_private_key,
    bytes_to_public_key,
    generate_key_pairs,
    private_key_to_bytes,
    public_key_to_bytes,
)

Keys = dict[int, tuple[bytes, bytes]]


class Client:
    """Keeps keys as bytes between steps, as flwr does: each step may be a new process."""

    def __init__(self, me: int, clients: int, threshold: int, bits: int) -> None:
        self.me, self.clients, self.threshold, self.modulus = me, clients, threshold, 1 << bits
        self.held: dict[int, tuple[bytes, bytes]] = {}
        self.transport: dict[int, bytes] = {}

    def advertise(self) -> tuple[bytes, bytes]:
        pairs = [generate_key_pairs() for _ in range(2)]
        self.secrets = [private_key_to_bytes(private) for private, _ in pairs]
        masks, transport = (public_key_to_bytes(public) for _, public in pairs)
        return masks, transport

    def share(self, keys: Keys) -> dict[int, bytes]:
        self.keys = keys
        self.seed = os.urandom(32)
        dealt = [
            create_shares(secret, self.threshold, self.clients)
            for secret in (self.seed, self.secrets[0])
        ]
        sealed = {}
        for peer, shares in zip(keys, zip(*dealt, strict=True), strict=True):
            if peer == self.me:
                self.held[peer] = shares
                continue
            self.transport[peer] = self.agree(1, peer)
            text = share_keys_plaintext_concat(self.me, peer, *shares)
            sealed[peer] = encrypt(self.transport[peer], text)
        return sealed

    def agree(self, which: int, peer: int) -> bytes:
        private = bytes_to_private_key(self.secrets[which])
        return generate_shared_key(private, bytes_to_public_key(self.keys[peer][which]))

    def mask(self, sealed: dict[int, bytes], vector: np.ndarray) -> bytes:
        for peer, text in sealed.items():
            source, target, *shares = share_keys_plaintext_separate(
                decrypt(self.transport[peer], text)
            )
            assert (source, target) == (peer, self.me)
            self.held[peer] = (shares[0], shares[1])
        masked = parameters_addition([vector], self.expand(self.seed, vector))
        for peer in sealed:
            combine = parameters_addition if self.me > peer else parameters_subtraction
            masked = combine(masked, self.expand(self.agree(0, peer), vector))
        self.masked = parameters_mod(masked, self.modulus)[0]
        return ndarray_to_bytes(self.masked)

    def expand(self, seed: bytes, vector: np.ndarray) -> list[np.ndarray]:
        return pseudo_rand_gen(seed, self.modulus, [vector.shape])

    def unmask(self, survivors: Iterable[int]) -> list[bytes]:
        return [self.held[peer][0] for peer in survivors]


def check(bits: int) -> None:
    """Run three clients and their server: the sum must be right."""
    clients = [Client(me, 3, 2, bits) for me in range(3)]
    vectors = [np.arange(5) * (me + 1) for me in range(3)]
    keys = {client.me: client.advertise() for client in clients}
    sealed = [client.share(keys) for client in clients]
    for client, vector in zip(clients, vectors, strict=True):
        others = {c: sealed[c][client.me] for c in keys if c != client.me}
        client.mask(others, vector)
    shares = [client.unmask(keys) for client in clients]
    total = sum(client.masked for client in clients)
    for of, client in enumerate(clients):
        seed = combine_shares([shares[0][of], shares[1][of]])
        total = total - client.expand(seed, vectors[0])[0]
    assert np.array_equal(total % (1 << bits), sum(vectors))


def steps(vector: np.ndarray, bits: int, keys: Keys, threshold: int) -> list[float]:
    """Seconds of the four steps of client 0; of the others only the public keys exist.

    Their messages to client 0 are sealed with the keys that it has agreed on with them.
    """
    seconds = []

    def timed(step: Callable, *arguments: object) -> Any:
        start = perf_counter()
        result = step(*arguments)
        seconds.append(perf_counter() - start)
        return result

    client = Client(0, len(keys), threshold, bits)
    everybody = keys | {0: timed(client.advertise)}
    timed(client.share, everybody)
    sealed = {
        peer: encrypt(key, share_keys_plaintext_concat(peer, 0, *client.held[0]))
        for peer, key in client.transport.items()
    }
    timed(client.mask, sealed, vector)
    timed(client.unmask, everybody)
    return seconds


def public_keys(clients: int) -> Keys:
    return {me: Client(me, clients, 1, 1).advertise() for me in range(clients)}
