"""Whatever bytes come, a reader gives a result or one of the errors that it promises.

The Rust tests do the same for all messages of the protocol.
"""

import copy
import json
import random

import pytest

from fedrank import Borda, Kemeny, Rankings, Study, conduct
from fedrank.agent.socket import read_request
from fedrank.exceptions import InputError, ProtocolError, RefusalError
from fedrank.protocol.driver import Driver
from fedrank.protocol.saved import Saved
from fedrank.transport import InProcess
from helpers.identities import PARTIES, with_identities

CASES = 1_500
CHUNKS = [
    *range(2),
    *(pytest.param(chunk, marks=pytest.mark.slow) for chunk in range(2, 72)),  # 10^5 and more
]
ROSTER = ["north", "east", "south"]
SIGNED = with_identities(ROSTER), None, PARTIES[3]
STUDIES = [
    Study(Borda(3, 3), ["a", "é", 3], *SIGNED),
    Study(Kemeny(3, 3, window=1, rounds=2, max_samples=5), None, ROSTER, fit_phi=True),
]
PROMISED = InputError, RefusalError, ProtocolError
ODD = [  # in the place of any value
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 256, 65_535, 65_536, 2**31, 2**32, 2**63, 2**64),
    *(10**30, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "0", "1", "x", "é", "\ud800", "\0"),
    *([], [[]], [0], [None], {}, {"": None}, [0, 1, 2], "refine", "dispersion", "AAAA", "ab" * 32),
]
TOKENS = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"\n", b"null", b"1e999", b"-", b"\\ud800"]
TOKENS += [b"\xff", b"\xed\xa0\x80", b"NaN", b"0" * 5000, b"[" * 100_000, b"9" * 4400]


def places_of(value):
    """Every place in a JSON document: its container and its key there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in list(inside):
        yield value, key
        if isinstance(each, dict | list):
            yield from places_of(each)


def changed_fields(rng, content):
    """Change some values of a JSON document, or take them out, or give some twice."""
    document = json.loads(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(places_of(document))
        if not places:
            break
        holder, key = rng.choice(places)
        how = rng.randrange(6)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif how == 2:
            other, there = rng.choice(places)
            holder[key] = copy.deepcopy(other[there]) if there in keys_in(other) else 0
        elif how == 3 and isinstance(holder[key], int):
            holder[key] += rng.choice([-1, 1])
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    spaces = rng.choice([(",", ":"), (", ", ": ")])
    sort, ascii_only = rng.random() < 0.8, rng.random() < 0.3
    text = json.dumps(document, separators=spaces, sort_keys=sort, ensure_ascii=ascii_only)
    return text.encode("utf-8", "surrogatepass")


def keys_in(holder):
    return holder if isinstance(holder, dict) else range(len(holder))


def changed_bytes(rng, content):
    """Flip, cut, take out, put in or repeat some bytes."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice([0, 1, 2, 8, 64]))
        how = rng.randrange(5)
        if how == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del changed[at:]
        elif how == 2:
            changed[at:end] = b""
        elif how == 3:
            changed[at:end] = rng.choice([rng.choice(TOKENS), rng.randbytes(rng.randrange(9))])
        else:
            changed[at:at] = changed[at:end]
    return bytes(changed)


def changes(chunk, content, cases=CASES):
    """Many changed copies of a content; the first is not changed."""
    rng = random.Random(chunk)
    yield content
    for _ in range(cases):
        yield rng.choice([changed_fields, changed_bytes])(rng, content)
    for _ in range(cases // 50):
        yield rng.randbytes(rng.randrange(200))


def refuses(read, *given):
    """Whether a reader refuses, by an error that it promises."""
    try:
        read(*given)
    except PROMISED:
        return True
    return False


@pytest.mark.parametrize("study", STUDIES, ids=["signed", "unsigned"])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_any_text_is_a_study_or_is_refused(chunk, study):
    refused = 0
    for content in changes(chunk, study.to_json().encode()):
        text = content.decode("utf-8", "surrogateescape")
        refused += refuses(Study.from_json, text)
        assert content != study.to_json().encode() or not refuses(Study.from_json, text)
    assert refused > CASES / 2


@pytest.mark.parametrize("chunk", CHUNKS)
def test_any_bytes_are_a_request_to_an_agent_or_are_refused(chunk):
    fields = {"study": STUDIES[0].to_json(), "run": 5, "round": 0, "step": "mask"}
    refused = 0
    for head in changes(chunk, json.dumps(fields).encode()):
        refused += refuses(read_request, head + b"\n\0\xff")
        refused += refuses(read_request, head)
    assert refused > CASES / 2


class KilledError(Exception):
    pass


class Mortal(InProcess):
    """Clients in this process, and a server that is killed at one step."""

    def exchange(self, step, requests):
        if step.name == "unmask" and step.round == self.last:
            raise KilledError
        return super().exchange(step, requests)


@pytest.mark.parametrize(
    ("study", "last"), [(STUDIES[0], 0), (STUDIES[1], 1)], ids=["signed", "unsigned"]
)
@pytest.mark.parametrize("chunk", CHUNKS)
def test_any_bytes_are_a_saved_run_or_are_refused(tmp_path, chunk, study, last):
    save = tmp_path / "run.state"
    identities = PARTIES[:3] if study.signed else None
    me = PARTIES[3] if study.signed else None
    data = [Rankings([[0, 1, 2]], items=study.items)] * 3
    inner = Mortal(study, data, bytes(32), identities=identities)
    inner.last = last
    with pytest.raises(KilledError):
        conduct(study, inner, save=save, identity=me)
    content = save.read_bytes()
    refused = 0
    cases = CASES // 5 if chunk < 2 else CASES
    for each in changes(chunk, content, cases):
        save.write_bytes(each)
        driver = Driver(study, inner, True, 3, bytes(32), 1, me)
        no = refuses(driver.load, Saved(save))
        assert not (no and each == content)
        refused += no
    assert refused > cases / 4
