"""The tables of the figures of real data against the definitions."""

import csv
import itertools
import math
import random
import sys

import numpy as np
import pytest

import fedrank as fr
from fedrank._progress import Progress
from fedrank.experiments import FIGURES, Options, real, reproduce, synthetic, table
from helpers import reference
from helpers.realdata import DATA


def made_up_sushi(folder, people=300, seed=1, n=10, clients=11, phi=0.7):
    """Files in the layout of the sushi data, about a known center; client 10 is none."""
    source = np.random.default_rng(seed)
    orders = fr.Mallows(phi, n=n).sample(people, rng=source).orders()
    regions = np.arange(people) % clients
    lines = [f"{n} 1", *(f"0 {n} " + " ".join(map(str, order)) for order in orders)]
    (folder / "sushi").mkdir()
    (folder / "sushi" / "sushi3a.5000.10.order").write_text("\n".join(lines) + "\n")
    people = (
        "\t".join([str(i), "0", "1", "100", "0", "0", "0", "0", str(region), "0", "1"])
        for i, region in enumerate(regions)
    )
    (folder / "sushi" / "sushi3.udata").write_text("\n".join(people) + "\n")
    return orders, regions


def test_sushi_files_are_found_in_the_folder_that_their_archive_unpacks_to(tmp_path):
    made_up_sushi(tmp_path)
    inside = tmp_path / "sushi" / "sushi3-2016"
    inside.mkdir()
    for path in list((tmp_path / "sushi").glob("sushi3*.*")):
        path.rename(inside / path.name)
    held = FIGURES["sushi"].load(Options(repetitions=1, data=tmp_path))
    assert sum(map(len, held)) == 300 - 300 // 11  # those of region 10 are left out


def test_sushi_panel_is_made_of_files_of_its_layout(tmp_path, monkeypatch):
    monkeypatch.setattr(FIGURES["sushi"], "steps", 20)  # of 200
    orders, regions = made_up_sushi(tmp_path)
    options = Options(repetitions=1, data=tmp_path)
    (made,) = reproduce(["sushi"], tmp_path / "out", options)
    rows = table.load(made.table)
    assert len(rows) == 20 * len(real.RULES)
    assert {row["total"] for row in rows} == {int((regions < 10).sum())}
    last = {(r["method"], r["where"]): r["mean"] for r in rows if r["step"] == 20}
    kept = [reference.inverse(o.tolist()) for o, r in zip(orders, regions, strict=True) if r < 10]
    borda = reference.central_borda([kept], random.Random(0))
    score = sum(reference.kendall(borda, r) for r in kept) / (len(kept) * 10)
    assert last["Borda", "centralized"] == pytest.approx(score, abs=1e-3)
    assert last["Kemeny", "centralized"] <= min(last.values())
    assert all(path.stat().st_size for path in made.pictures)


DRAWN = {  # rules that break ties evenly: their scores are compared in the mean
    ("Borda", "federated"): lambda parts, source: reference.federated_borda(parts, 0.6, source),
    ("Lehmer", "federated"): lambda parts, source: reference.federated_lehmer(
        parts,
        reference.paper_low_bits(0.6, len(parts[0][0]), len(parts) * max(map(len, parts))),
        "paper",
        source,
    ),
    ("Lehmer, nearest", "federated"): lambda parts, source: reference.federated_lehmer(
        parts, 0, "nearest", source
    ),
    ("Borda", "centralized"): reference.central_borda,
    ("Lehmer", "centralized"): reference.central_lehmer,
}


def footrules_of_footrules(parts):
    """All rankings that the footrule consensus of some clients' consensuses may be."""
    local = [reference.footrule_consensus(part)[1] for part in parts]
    return set().union(
        *(reference.footrule_consensus(sent)[1] for sent in itertools.product(*local))
    )


LISTED = {  # rules that have several right answers at times: the score is between theirs
    ("Footrule", "federated"): footrules_of_footrules,
    ("Kemeny", "federated"): lambda parts: reference.kemeny(reference.together(parts))[1],
    ("Footrule", "centralized"): lambda parts: reference.footrule_consensus(
        reference.together(parts)
    )[1],
    ("Kemeny", "centralized"): lambda parts: reference.kemeny(reference.together(parts))[1],
}


def test_rules_on_real_panels_agree_with_the_definitions(tmp_path, monkeypatch):
    clients, steps, repetitions = 3, 3, 25
    # So that no rule has the score of another at all steps.
    given = {"people": 42, "seed": 29, "n": 5, "clients": clients, "phi": 0.9}
    orders, regions = made_up_sushi(tmp_path, **given)
    monkeypatch.setattr(FIGURES["sushi"], "steps", steps)
    monkeypatch.setattr(FIGURES["sushi"], "clients", clients)
    options = Options(repetitions=repetitions, data=tmp_path)
    (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
    with made.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], row["where"]) for row in rows} == DRAWN.keys() | LISTED.keys()
    ranks = [reference.inverse(order.tolist()) for order in orders]
    held = [[r for r, k in zip(ranks, regions, strict=True) if k == c] for c in range(clients)]

    def score(found):
        return sum(reference.kendall(found, r) for r in ranks) / (len(ranks) * 5)

    source, sure = random.Random(4), set()
    for row in rows:
        which = row["method"], row["where"]
        parts = [part[: math.ceil(len(part) * int(row["step"]) / steps)] for part in held]
        mean, error = float(row["mean"]), float(row["standard_error"])
        if which in LISTED:
            scores = [score(found) for found in LISTED[which](parts)]
            assert min(scores) - 1e-12 <= mean <= max(scores) + 1e-12, (row, scores)
            sure |= {which} if max(scores) == min(scores) else set()
        else:
            scores = [score(DRAWN[which](parts, source)) for _ in range(repetitions)]
            gap = abs(mean - np.mean(scores))
            spread = math.hypot(error, np.std(scores, ddof=1) / math.sqrt(repetitions))
            assert gap <= max(5 * spread, 1e-12), (row, np.mean(scores))
    assert sure == LISTED.keys()  # each had a step with one right score
    curves = {}
    for row in rows:
        curves.setdefault((row["method"], row["where"]), []).append(row["mean"])
    both = curves.pop(("Kemeny", "federated")), curves.pop(("Kemeny", "centralized"))
    assert all(curve not in both for curve in curves.values())
    assert len(set(map(tuple, curves.values()))) == len(curves)


def test_other_data_are_computed_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(FIGURES["sushi"], "steps", 1)
    tables = {}
    for seed in (1, 2):
        folder = tmp_path / f"data {seed}"
        folder.mkdir()
        made_up_sushi(folder, people=30, seed=seed)
        options = Options(repetitions=1, data=folder)
        alone = tmp_path / f"alone {seed}"
        tables[seed] = reproduce(["sushi"], alone, options, formats=())[0].table.read_text()
        (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
        assert made.table.read_text() == tables[seed]
    assert tables[1] != tables[2]
    for file in (tmp_path / "data 1" / "sushi").iterdir():  # the same names, other content
        file.write_bytes((tmp_path / "data 2" / "sushi" / file.name).read_bytes())
    options = Options(repetitions=1, data=tmp_path / "data 1")
    (made,) = reproduce(["sushi"], tmp_path / "out", options, formats=())
    assert made.table.read_text() == tables[2]
    (made,) = reproduce(["sushi"], tmp_path / "alone 1", options, formats=())
    assert made.table.read_text() == tables[2]


@pytest.mark.parametrize("name", ["bins", "synthetic-n10-identity-clients", "sushi"])
def test_progress_moves_within_a_part_and_ends_when_all_is_done(tmp_path, monkeypatch, name):
    made_up_sushi(tmp_path, people=30)
    monkeypatch.setattr(FIGURES["sushi"], "steps", 2)
    monkeypatch.setattr(synthetic, "STEPS", (1, 2))
    bars = []

    class Bar(Progress):
        def __init__(self, label, total):
            super().__init__(label, total)
            self.moves = 0
            bars.append(self)

        def advance(self, steps=1):
            super().advance(steps)
            self.moves += 1

    monkeypatch.setattr(sys.modules[reproduce.__module__], "Progress", Bar)
    options = Options(repetitions=3, data=tmp_path)
    reproduce([name], tmp_path / "out", options, formats=())
    reproduce([name], tmp_path / "out", options, formats=())
    first, again = bars
    parts = {"bins": 5, "sushi": 2}.get(name, 6)
    assert first.done == first.total
    assert first.moves == parts * {"bins": 1, "sushi": 3 * len(real.RULES)}.get(name, 2)
    assert again.done == again.total == again.moves == 0  # all parts are known


def test_subsets_grow_in_file_order(tmp_path):
    orders, regions = made_up_sushi(tmp_path)
    figure, options = FIGURES["sushi"], Options(data=tmp_path)
    small, large = (figure.subsets(step, 0, options) for step in (1, 200))
    assert [len(part) for part in small] == [1] * 10
    assert [len(part) for part in large] == [int((regions == r).sum()) for r in range(10)]
    for region, part in enumerate(small):
        assert part.orders()[0].tolist() == orders[region].tolist()


@pytest.mark.skipif(not (DATA / "tcga").is_dir(), reason="the real data are not at hand")
def test_lusc_panel_is_made_of_the_real_file(tmp_path):
    (made,) = reproduce(["lusc"], tmp_path, Options(repetitions=1, data=DATA), formats=())
    rows = table.load(made.table)
    assert {(row["n"], row["total"], row["clients"]) for row in rows} == {(926, 35, 10)}


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "jester").is_dir(), reason="the real data are not at hand")
def test_jester_panel_ends_at_the_known_figures(tmp_path):
    (made,) = reproduce(["jester"], tmp_path, Options(repetitions=5, data=DATA), formats=())
    rows = table.load(made.table)
    last = {(r["method"], r["where"]): r["mean"] for r in rows if r["samples"] == 282}
    assert last["Borda", "centralized"] == pytest.approx(19.228750, abs=1e-6)
    assert last["Borda", "federated"] == pytest.approx(19.23, abs=0.01)
    assert last["Footrule", "centralized"] == pytest.approx(19.27, abs=0.01)
    assert 19.9 < last["Lehmer", "federated"] < 20.3
    assert last["Lehmer, nearest", "federated"] == pytest.approx(19.37, abs=0.03)
