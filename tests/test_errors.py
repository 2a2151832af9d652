"""Input errors say what is wrong, which value, where and what to do, as data and in words."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import fedrank
from fedrank import PartialRankings, Rankings, _core, data, golomb
from fedrank.agent.policy import as_toml
from fedrank.cli._flags import FLAGS
from fedrank.cli._reading import as_flags
from fedrank.exceptions import InputError, Remedy

SOURCE = Path(fedrank.__file__).parent
NAN = float("nan")
TIED = {"row": 0, "item": 0, "value": 2.0, "remedy": Remedy.TIES}


def raised(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: Rankings([[0, 1], [1, 2]]), {"row": 1, "value": 2, "remedy": Remedy.BASE_1}),
        (lambda: Rankings([[0, 1]], base=1), {"row": 0, "value": 0, "remedy": Remedy.BASE_0}),
        (lambda: Rankings([[0, 1], [0, 0]]), {"row": 1, "value": 0}),
        (lambda: Rankings([[0, 1], [0, 0.5]]), {"row": 1, "item": 1, "value": 0.5}),
        (lambda: Rankings([[0, 2**40]]), {"row": 0, "item": 1, "value": 2**40}),
        (lambda: Rankings([[0, "x"], [0, None]]), {"row": 0, "item": 1, "value": "x"}),
        (lambda: Rankings([[0, 1]], items=["a", NAN]), {"row": None, "item": 1}),
        (lambda: Rankings([[0, 1]], items="aa"), {"item": 1, "value": "a"}),
        (lambda: Rankings.from_orders(["ab", "ac"]), {"row": 1, "value": "c"}),
        (lambda: Rankings.from_orders(["ab", "a"]), {"row": 1, "item": 1}),
        (lambda: Rankings.from_ballots([["a"], ["z"]], items="ab"), {"row": 1, "value": "z"}),
        (
            lambda: Rankings.from_scores([[1, 2], [3, 3]], ties="error"),
            {"row": 1, "item": 0, "value": 3.0, "remedy": Remedy.TIES},
        ),
        (lambda: Rankings.from_scores([[1, 1], [NAN, 3]]), {"row": 1, "item": 0}),
        (lambda: _core.from_scores(np.array([[2.0, 2.0]]), "error", bytes(32)), TIED),
        (lambda: fedrank.lehmer_decode([[0, 5]]), {"row": 0, "item": 1, "value": 5}),
        (lambda: golomb.encode([[0, 1], [-1, 0]], 1), {"row": 1, "item": 0, "value": -1}),
        (lambda: golomb.decode(b"\xf0", (2, 4), 1), {"row": 1, "item": 0}),
        (lambda: PartialRankings([[0, 1], [-1, -1]]), {"row": 1}),
        (lambda: PartialRankings([[0, 1], [0, -2]]), {"row": 1, "item": 1, "value": -2}),
        (lambda: fedrank.aggregate([[0, 1]] * 2, weights=[1, 0.5]), {"row": 1, "value": 0.5}),
        (lambda: fedrank.aggregate([[0, 1]] * 3, weights=[0, 0, 0]), {"value": 0}),
        (lambda: fedrank.Mallows(1.5, n=3), {"value": 1.5, "parameter": "phi"}),
        (lambda: fedrank.Mallows(0.5, n=0), {"value": 0, "parameter": "n"}),
        (lambda: fedrank.Borda(3, 2, send="no"), {"value": "no", "parameter": "send"}),
        (lambda: fedrank.Borda(2**24 + 1, 2), {"parameter": "n"}),
    ],
)
def test_an_error_has_its_facts_as_attributes(call, facts):
    error = raised(call)
    assert {name: getattr(error, name) for name in facts} == facts
    assert (error.file, error.line) == (None, None)
    if error.row is not None:
        assert str(error).startswith(f"row {error.row}: ")
        assert not error.problem.startswith("row ")
    if error.remedy is not None:
        assert str(error).endswith(f"; {error.remedy}")


def test_a_parameter_is_the_subject_of_the_problem():
    error = InputError("must be above 0, not -1", parameter="distance", value=-1)
    assert str(error) == "distance must be above 0, not -1"
    assert (
        error.message(None, name=lambda name: f"--{name}") == "--distance must be above 0, not -1"
    )
    assert str(error.at("agent.toml")) == "agent.toml: distance must be above 0, not -1"


def test_readers_add_the_file_and_the_line(tmp_path):
    path = tmp_path / "ranks.csv"
    path.write_text("a,b\n0,1\n\n1,-2\n")
    error = raised(lambda: data.read_table(path, layout="ranks"))
    assert (error.file, error.line, error.value) == (str(path), 4, -2.0)
    assert str(error).startswith(f"{path}, line 4: -2 is not a rank")


def test_an_error_lists_the_choices_in_the_words_of_its_reader():
    choices = [("the highest is best", {"best": "high"}), ("no header", {"header": False})]
    error = InputError("it is unclear", file="v.csv", choices=choices, shown=["line 1: a, b"])
    assert str(error) == (
        "v.csv: it is unclear\n  line 1: a, b\nPass one of these:\n"
        '  best="high": the highest is best\n  header=False: no header'
    )
    assert "  --best high: the highest is best\n  --no-header: no" in error.message(None, as_flags)
    assert "  header = false: no header" in error.message(None, as_toml)


def test_a_row_without_a_line_keeps_its_number_in_the_file(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("sample,A,B\ns,1,2\nt,3,3\n")
    error = raised(lambda: data.read_expression(path, ties="error"))
    assert (error.file, error.line, error.row, error.value) == (str(path), None, 1, 3.0)
    assert str(error).startswith(f"{path}, row 1: items 0 and 1 share the score 3")


def test_federate_adds_the_client():
    error = raised(lambda: fedrank.federate([[[0, 1]], [[0, 0]], [[0, 1]]]))
    assert (error.client, error.row, error.file) == (1, 0, None)
    assert str(error).startswith("client 1, row 0: not a ranking")


def test_an_error_survives_pickling():
    error = raised(lambda: Rankings([[1, 2]])).at("votes.csv", line=3)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), vars(copy)) == (str(error), vars(error))
    assert type(copy) is InputError


def test_the_command_line_knows_a_flag_for_every_remedy_that_it_can_meet():
    # It passes ties="error" to no reader, and reads ranks from any base.
    assert set(FLAGS) == set(Remedy) - {Remedy.TIES, Remedy.BASE_0, Remedy.BASE_1}
    assert all("--" in advice or "'fedrank " in advice for advice in FLAGS.values())


def test_nothing_below_the_command_line_mentions_its_flags():
    flag = re.compile(r"(?<![\w-])--[a-z]")
    others = {"transport"}  # flags of Flower's own programs
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in ({"cli"} | others)
        and flag.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_first_row_at_fault_is_the_one_that_the_core_refuses():
    scores = np.random.default_rng(0).normal(size=(300, 5))
    scores[[70, 200], 3] = NAN
    scores[40, 1] = scores[40, 0]
    assert raised(lambda: Rankings.from_scores(scores)).row == 70
    assert raised(lambda: Rankings.from_scores(scores, ties="error")).row == 40
