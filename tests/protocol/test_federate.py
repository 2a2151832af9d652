"""Federating in process: secure and plain agree whatever clients drop out; costs are real."""

from itertools import product

import numpy as np
import pytest

from fedrank import (
    Borda,
    Lehmer,
    Mallows,
    Rankings,
    aggregate,
    federate,
    kendall_distance,
)
from fedrank._random import seed_bytes, stream_rng
from fedrank.exceptions import InputError
from fedrank.protocol.secagg import SIGNED_STEPS, ProtocolError
from helpers.runs import SCHEMES, parties

STEPS = ("share", "mask", "unmask")


def messages(data, scheme, rng):
    """What the clients send, each from its own stream."""
    seed = seed_bytes(rng)
    return [
        scheme.encode(each, client=c, rng=stream_rng(seed, 0, c)) for c, each in enumerate(data)
    ]


def same(a, b):
    return (
        a.ranks.tobytes() == b.ranks.tobytes()
        and a.ties == b.ties
        and a.method == b.method
        and (a.scores is None) == (b.scores is None)
        and (a.scores is None or a.scores.tobytes() == b.scores.tobytes())
    )


# Secure and plain


def agree(kind, n, clients):
    data = parties(n, clients, seed=n + clients)
    scheme = SCHEMES[kind](n, clients)
    rng = clients + 1000 * n
    secure = federate(data, scheme, rng=rng, min_survivors=1)
    if clients < 50:
        signed = federate(data, scheme, rng=rng, min_survivors=1, identities=True)
        assert signed.study.signed
        assert (signed.survivors, signed.faults) == (secure.survivors, [])
        assert same(signed, secure)
    plain = federate(data, scheme, secure=False, rng=rng)
    assert secure.survivors == plain.survivors == list(range(clients))
    assert (secure.secure, plain.secure) == (True, False)
    assert secure.faults == []
    assert same(secure, plain)
    total = sum(messages(data, scheme, rng))
    by_hand = scheme.decode(total, clients, rng=stream_rng(seed_bytes(rng), 1))
    assert same(secure, by_hand)


def grid():
    """Every scheme, size and number of clients; the long ones marked slow."""
    for kind, n, clients in product(SCHEMES, (1, 2, 3, 10, 64, 65, 978), (2, 3, 5, 10, 50)):
        # The decode rule does not change a message, nor n the cost of 50 clients' shares.
        long = clients == 50 and ("decode" in kind or n not in (10, 978))
        longest = clients == 50 and n == 978 and "lehmer paper" in kind
        marks = [pytest.mark.slow] if long or longest else []
        yield pytest.param(kind, n, clients, marks=marks)


@pytest.mark.parametrize(("kind", "n", "clients"), list(grid()))
def test_secure_and_plain_agree_bit_for_bit(kind, n, clients):
    agree(kind, n, clients)


def test_exact_borda_equals_all_in_one_place():
    data = parties(40, 6)
    result = federate(data, "borda", send="sums", max_samples=9)
    central = aggregate(np.vstack(data), "borda")
    assert result.scores.tobytes() == central.scores.tobytes()


# Dropouts


def every_pattern(threshold, scheme, clients=5, in_any_order=True, identities=False):
    """Let every client stay or vanish at every step; return how many runs succeeded.

    Runs that fail can be tried in one order of the clients only.
    """
    steps = SIGNED_STEPS[1:] if identities else STEPS
    options = {"threshold": threshold, "identities": identities, "rng": 7}
    data = parties(scheme.n, clients)
    sent = messages(data, scheme, rng=7)
    decoding = stream_rng(seed_bytes(7), 1).bit_generator.state
    opened = 0
    for pattern in product((None, *steps), repeat=clients):
        lost = {c: step for c, step in enumerate(pattern) if step}
        survivors = [c for c in range(clients) if lost.get(c) in (None, "confirm", "unmask")]
        to_the_end = [c for c in range(clients) if c not in lost]
        if len(to_the_end) < threshold:
            if not in_any_order and list(pattern) != sorted(pattern, key=str):
                continue
            with pytest.raises(ProtocolError) as refused:
                federate(data, scheme, dropouts=lost, **options)
            assert refused.value.code == "few"
            continue
        result = federate(data, scheme, dropouts=lost, **options)
        assert (result.survivors, result.dropped, result.faults) == (survivors, lost, [])
        rng = np.random.default_rng()
        rng.bit_generator.state = decoding
        expected = scheme.decode(sum(sent[c] for c in survivors), len(survivors), rng=rng)
        assert same(result, expected), pattern
        opened += 1
    return opened


def test_every_dropout_pattern_of_five_clients():
    # Three, four or five stay, of the others each vanishes at one of three steps.
    assert every_pattern(3, Borda(3, 5), in_any_order=False) == 10 * 9 + 5 * 3 + 1


def test_every_dropout_pattern_of_four_clients_with_identities():
    # Three or four stay, of the others each vanishes at one of four steps.
    opened = every_pattern(3, Borda(3, 4), 4, in_any_order=False, identities=True)
    assert opened == 4 * 4 + 1


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "opened"), [(3, 106), (4, 16), (5, 1)])
def test_every_dropout_pattern_at_each_threshold(threshold, opened):
    assert every_pattern(threshold, Lehmer(4, 5, low_bits=1)) == opened


@pytest.mark.parametrize("clients", [7, 12, 30])
def test_random_dropouts_of_many_clients(clients):
    data = parties(12, clients)
    scheme = Lehmer(12, clients, low_bits=1)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        gone = rng.permutation(clients)[: rng.integers(0, clients - 2 * clients // 3)]
        lost = {int(c): str(rng.choice(STEPS)) for c in gone}
        secure = federate(data, scheme, dropouts=lost, rng=seed)
        plain = federate(data, scheme, dropouts=lost, rng=seed, secure=False)
        assert secure.survivors == plain.survivors
        assert secure.dropped == plain.dropped == lost
        assert same(secure, plain)


def test_listed_dropouts_vanish_before_their_masked_input():
    data = parties(5, 6)
    listed = federate(data, dropouts=[4, 1], threshold=4, rng=0)
    named = federate(data, dropouts={1: "mask", 4: "mask"}, threshold=4, rng=0)
    assert listed.survivors == named.survivors == [0, 2, 3, 5]
    assert listed.dropped == named.dropped == {1: "mask", 4: "mask"}
    assert same(listed, named)


# Streams


@pytest.mark.parametrize("kind", ["borda centroids", "lehmer 0", "lehmer 2"])
def test_what_a_client_draws_depends_on_the_seed_and_its_index_only(kind):
    n, clients = 6, 5
    scheme = SCHEMES[kind](n, clients)
    tied = [list(range(n)), list(range(n))[::-1]]
    data = [tied] * clients
    seed = seed_bytes(3)
    sent = [scheme.encode(tied, client=c, rng=stream_rng(seed, 0, c)) for c in range(clients)]
    assert len({each.tobytes() for each in sent}) > 1

    def decoded(survivors, messages):
        total = sum(messages[c] for c in survivors)
        return scheme.decode(total, len(survivors), rng=stream_rng(seed, 1))

    assert same(federate(data, scheme, rng=3), decoded(range(5), sent))
    # Without some of them, the others send the same.
    lost = federate(data, scheme, rng=3, dropouts=[0, 3], threshold=3)
    assert same(lost, decoded([1, 2, 4], sent))
    # With other data at client 2, too.
    other = scheme.encode([list(range(n))], client=2, rng=stream_rng(seed, 0, 2))
    changed = [*data[:2], [list(range(n))], *data[3:]]
    expected = decoded(range(5), [*sent[:2], other, *sent[3:]])
    assert same(federate(changed, scheme, rng=3), expected)


def test_the_same_rng_gives_the_same_consensus_and_another_does_not():
    tied = [[list(range(20)), list(range(20))[::-1]]] * 4
    orders = [tuple(federate(tied, rng=s).order) for s in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    generator = np.random.default_rng(1)
    first, second = (tuple(federate(tied, rng=generator).order) for _ in range(2))
    assert first == orders[0] != second


def test_thread_count_changes_nothing(python):
    code = (
        "import hashlib, numpy as np, fedrank as fr\n"
        "data = fr.Mallows(0.97, n=120).sample(400, rng=0).split(7, rng=0)\n"
        "for scheme in (fr.Borda(120, 7), fr.Lehmer(120, 7), fr.Lehmer(120, 7, low_bits=3)):\n"
        "    for secure in (True, False):\n"
        "        found = fr.federate(data, scheme, secure=secure, dropouts=[2], rng=5)\n"
        "        print(hashlib.sha256(found.ranks.tobytes()).hexdigest(), found.ties)\n"
    )
    runs = [python(code, RAYON_NUM_THREADS=threads) for threads in ("1", "4")]
    assert all(done.returncode == 0 for done in runs), runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.splitlines()) == 6


@pytest.mark.parametrize("dropouts", [{1: "confirm"}, {1: (0, "confirm")}])
def test_clients_drop_out_of_the_confirm_step_with_identities_only(dropouts):
    data = parties(5, 4)
    result = federate(data, dropouts=dropouts, identities=True, rng=0)
    assert (result.survivors, result.dropped) == ([0, 1, 2, 3], {1: "confirm"})
    assert same(result, federate(data, rng=0))
    for secure in (True, False):
        with pytest.raises(ValueError, match="one of share, mask, unmask, not 'confirm'"):
            federate(data, dropouts=dropouts, secure=secure)
    with pytest.raises(ValueError, match="one of share, mask, confirm, unmask, not 'later'"):
        federate(data, dropouts={1: "later"}, identities=True)


# Few clients


def test_a_sum_over_fewer_than_three_is_opened_on_request_only():
    data = parties(4, 2)
    with pytest.raises(ProtocolError, match="min_survivors = 3") as refused:
        federate(data)
    assert refused.value.code == "few"
    assert federate(data, min_survivors=1).survivors == [0, 1]
    three = parties(4, 3)
    with pytest.raises(ProtocolError, match="min_survivors = 3"):
        federate(three, threshold=2, dropouts=[1])
    assert federate(three, threshold=2, dropouts=[1], min_survivors=1).survivors == [0, 2]
    # Vanishing after its input is in the sum does no harm.
    assert federate(three, threshold=2, dropouts={1: "unmask"}).survivors == [0, 1, 2]


def test_one_client_alone_cannot_be_hidden():
    with pytest.raises(
        ValueError,
        match="one client has no others to hide among; add clients, or pass secure",
    ):
        federate(parties(4, 1), min_survivors=1)
    assert federate(parties(4, 1), secure=False).survivors == [0]


def test_the_words_of_a_protocol_error_read_as_a_sentence():
    with pytest.raises(ProtocolError) as refused:
        federate(parties(4, 4), dropouts=[0, 1])
    assert refused.value.code == "few"
    assert str(refused.value) == f"{refused.value.problem}; {refused.value.remedy}"


# Labels


def test_labels_arrive_in_the_consensus():
    votes = [Rankings([[2, 0, 1]], items=["ann", "bob", "cy"])] * 3
    for secure in (True, False):
        result = federate(votes, secure=secure)
        assert result.items == ("ann", "bob", "cy")
        assert result.labels == ("bob", "cy", "ann")
        assert result.study.items == ("ann", "bob", "cy")
    assert federate([[[2, 0, 1]]] * 3).labels == (1, 2, 0)


def test_labels_decide_in_whatever_order_they_are():
    ours = Rankings([[0, 1, 2]], items="abc")
    theirs = Rankings([[2, 1, 0]], items="cba")  # a before b before c, too
    mixed = federate([ours, theirs, ours], send="sums", max_samples=1)
    assert (mixed.labels, mixed.items) == (("a", "b", "c"), ("a", "b", "c"))
    assert mixed.scores.tolist() == [0, 1, 2]


def test_items_that_differ_are_listed_by_client():
    ours = Rankings([[0, 1, 2]], items="abc")
    strange = Rankings([[0, 1, 2]], items="abd")
    message = r"'north' lacks 1 \(d\).*'west' lacks 1 \(c\); .*select and common_items"
    with pytest.raises(InputError, match=message):
        federate({"north": ours, "west": strange})
    with pytest.raises(InputError, match="client 2 has no item labels, but client 0 has"):
        federate([ours, ours, [[0, 1, 2]]])


# What is refused


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize(
    ("clients", "arguments", "named"),
    [
        ([], {}, "no clients"),
        ([[[0, 1]], np.empty((0, 2), dtype=int), [[0, 1]]], {}, "client 1: there are no rankings"),
        ([[[0, 1]], [[0, 1]], [[0, 1, 2]]], {}, "client 2 ranks 3 items, but client 0 ranks 2"),
        ([[[0, 1]], [[0, 0]], [[0, 1]]], {}, "not a ranking"),
        (
            [[[0, 1]]] * 3,
            {"method": "copeland"},
            r"or a method object, not 'copeland'",
        ),
        ([[[0, 1]]] * 3, {"method": None}, "method must be"),
        ([[[0, 1]]] * 3, {"method": Borda(2, 3), "phi": 0.5}, "'phi'"),
        ([[[0, 1]]] * 3, {"method": Borda(2, 4)}, "4 clients, but there are 3"),
        ([[[0, 1]]] * 3, {"method": Borda(5, 3)}, r"made for 5 items, but the clients rank 2"),
        ([[[0, 1]]] * 3, {"threshold": 1}, "threshold"),
        ([[[0, 1]]] * 3, {"threshold": 4}, "threshold"),
        ([[[0, 1]]] * 3, {"dropouts": [3]}, "dropout 3"),
        ([[[0, 1]]] * 3, {"dropouts": [-1]}, "dropout -1 is not a client"),
        ([[[0, 1]]] * 3, {"dropouts": {0: "advertise"}}, "share, mask, unmask"),
        ([[[0, 1]]] * 3, {"dropouts": {0: "later"}}, "'later'"),
        ([[[0, 1]]] * 3, {"dropouts": {0: None}}, "None"),
        ([[[0, 1]]] * 4, {"dropouts": [0.5]}, "0.5"),
        ([[[0, 1]]] * 3, {"dropouts": ["a"]}, "'?a'?"),
        ([[[0, 1]]] * 3, {"dropouts": [0, 1, 2]}, "dropped|inputs"),
        ([[[0, 1]]] * 3, {"send": "centroids", "phi": 1}, "phi"),
        ([[[0, 1]]] * 3, {"phi": 0.6}, 'leave out phi, or pass send="centroids"'),
        ([[[0, 1]]] * 3, {"send": "sums", "levels": 4}, 'levels does not apply to send="sums"'),
        ([[[0, 1]]] * 3, {"send": "all"}, '"means", "weighted", "centroids", "sums", not .all'),
        (
            [[[0, 1]] * 2, [[0, 1]] * 4, [[0, 1]] * 3],
            {"max_samples": 2},
            "client 1: 4 rankings are more than the bound of 2 per client; pass a larger max_sam",
        ),
    ],
)
def test_bad_input_is_refused_and_named(secure, clients, arguments, named):
    with pytest.raises(ValueError, match=named):
        federate(clients, secure=secure, **arguments)


@pytest.mark.parametrize(
    ("method", "option", "allowed"),
    [
        ("borda", "window", "send, levels, phi, max_samples, partial"),
        ("lehmer", "send", "phi, low_bits, max_samples, epsilon, decode"),
        (
            "kemeny",
            "start",
            "window, rounds, counts, majority, max_samples, partial, send, levels, phi",
        ),
    ],
)
def test_an_option_of_another_method_is_named_and_the_right_ones_are_listed(
    method, option, allowed
):
    with pytest.raises(InputError) as refused:
        federate([[[0, 1]]] * 3, method, **{option: 2})
    assert refused.value.value == option
    assert str(refused.value) == (
        f"neither federate nor the method {method!r} has an option {option!r}; "
        f"its options are {allowed}"
    )


# The main job


@pytest.mark.parametrize("dropouts", [(), (3, 7)])
def test_the_center_of_mallows_data_is_recovered(dropouts):
    center = np.random.default_rng(0).permutation(978)
    data = Mallows(0.6, center=center).sample(500, rng=1)
    clients = [data[50 * c : 50 * c + 50] for c in range(10)]
    result = federate(clients, "borda", dropouts=dropouts, rng=2)
    # About 45 rankings per client recover it wholly (M12); a few pairs may be off.
    assert kendall_distance(result, center) <= 5
    lehmer = federate(clients, "lehmer", dropouts=dropouts, rng=2)
    # A tenth of a pair an item at most; a random ranking is 239,000 off.
    assert kendall_distance(lehmer, center) <= 98
