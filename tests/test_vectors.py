"""Golden vectors, which the Rust tests read too."""

import json

import numpy as np
import pytest

from fedrank import (
    Mallows,
    _core,
    footrule_distance,
    golomb,
    kendall_distance,
    lehmer_decode,
    lehmer_encode,
)
from fedrank.schemes import Dispersion, Refine
from helpers import reference, rounds
from helpers.paths import VECTORS


def cases(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))["cases"]


# secagg.json and pinned.json are explained by the programs that make them.
MADE = ("secagg", "pinned")
EXPLAINED = sorted(path for path in VECTORS.glob("*.json") if path.stem not in MADE)


@pytest.mark.parametrize("path", EXPLAINED, ids=lambda path: path.name)
def test_every_file_explains_itself(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(content) == {"about", "cases"}
    assert len(content["about"]) > 50
    assert content["cases"]


@pytest.mark.parametrize("case", cases("lehmer"), ids=lambda case: str(case["ranks"]))
def test_lehmer_codes(case):
    assert list(reference.encode(case["ranks"])) == case["code"]
    assert lehmer_encode([case["ranks"]]).tolist() == [case["code"]]
    assert lehmer_decode([case["code"]]).tolist() == [case["ranks"]]


@pytest.mark.parametrize("case", cases("golomb"), ids=lambda case: case["bytes"][:40])
def test_golomb_codes(case):
    codes, parameter, written = case["codes"], case["parameter"], bytes.fromhex(case["bytes"])
    n = len(codes[0])
    each = parameter if isinstance(parameter, list) else [parameter] * n
    assert reference.golomb(codes, each) == written
    assert golomb.encode(codes, parameter) == written
    assert golomb.decode(written, (len(codes), n), parameter).tolist() == codes


@pytest.mark.parametrize("case", cases("kendall"), ids=lambda case: f"{case['a']}{case['b']}")
def test_distances(case):
    a, b = case["a"], case["b"]
    assert reference.kendall(a, b) == kendall_distance(a, b) == case["kendall"]
    assert reference.footrule(a, b) == footrule_distance(a, b) == case["footrule"]


@pytest.mark.parametrize(
    "case", cases("expected_ranks"), ids=lambda case: f"{case['phi']}-{case['n']}"
)
def test_expected_ranks(case):
    found = Mallows(case["phi"], n=case["n"]).expected_ranks()
    np.testing.assert_allclose(found, case["expected"], rtol=1e-12)


@pytest.mark.parametrize("case", cases("mallows_sample"), ids=lambda case: f"phi {case['phi']}")
def test_samples_never_change_unnoticed(case):
    center = np.array([case["center"]], dtype=np.int32)
    seed = bytes.fromhex(case["seed"])
    found = _core.mallows_sample(case["phi"], center, len(case["ranks"]), seed)
    assert found.tolist() == case["ranks"]


@pytest.mark.parametrize("case", cases("refine"), ids=lambda case: case["packed"])
def test_refine_messages(case):
    *earlier, ranks = case["announced"]
    options = {name: case[name] for name in ("window", "counts", "majority", "max_samples")}
    scheme = Refine(ranks, case["clients"], earlier=earlier, **options)
    message = scheme.encode(case["rankings"], client=0)
    assert message.tolist() == case["message"]
    assert scheme.pack(message).hex() == case["packed"]
    assert scheme.unpack(bytes.fromhex(case["packed"])).tolist() == case["message"]


@pytest.mark.parametrize("case", cases("dispersion"), ids=lambda case: case["packed"])
def test_dispersion_messages_and_fits(case):
    scheme = Dispersion(case["announced"], case["clients"], max_samples=case["max_samples"])
    message = scheme.encode(case["rankings"], client=0)
    assert message.tolist() == case["message"]
    assert scheme.pack(message).hex() == case["packed"]
    fit = scheme.decode(message, survivors=1)
    assert fit.phi == pytest.approx(case["phi"], rel=1e-9)
    assert fit.standard_error == pytest.approx(case["standard_error"], rel=1e-9)


def test_the_vectors_of_rounds_are_what_their_program_makes(tmp_path):
    rounds.main(tmp_path)
    for name in ("refine.json", "dispersion.json"):
        assert (tmp_path / name).read_text() == (VECTORS / name).read_text()
