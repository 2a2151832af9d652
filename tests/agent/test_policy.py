"""What an agent's policy refuses, and its configuration."""

import time

import pytest

from fedrank import Borda, Study
from fedrank.agent import Agent, Code, RefusalError, read_config
from fedrank.agent import agent as answering
from fedrank.agent.ledger import DAY, Ledger
from fedrank.exceptions import InputError
from fedrank.transport import Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    STUDY,
    Federation,
    changed_ledger,
    configured,
    files,
    not_answered,
    opening,
)
from helpers.command import write_ranks


@pytest.mark.parametrize(
    ("limits", "study", "named"),
    [
        ({"studies": ("0" * 64,)}, STUDY, "not among those allowed"),
        ({"allow_unsigned": False}, STUDY, "refused unless allow_unsigned = true"),
        ({"min_clients": 5}, STUDY, "4 clients are fewer than min_clients = 5"),
        ({"min_threshold": 4}, STUDY, "threshold 3 is below min_threshold = 4"),
        ({"min_samples": 13}, STUDY, "12 rankings are fewer than min_samples = 13"),
        ({"runs_per_day": 0}, STUDY, "runs_per_day = 0"),
        ({}, Study(Borda(4, 4), LABELS, ["a", "b", "c", "d"]), "east is not in the roster"),
    ],
)
def test_what_the_policy_does_not_allow_is_refused_at_the_first_step(
    tmp_path, limits, study, named
):
    config = configured(tmp_path, **({"studies": (study.digest,)} | limits))
    agent = Agent(config)
    assert named in not_answered(
        Code.REFUSED, agent, study.to_json(), Step(1, 0, "advertise"), opening(1, study)
    )
    assert files(agent, "sessions", study) == []
    assert agent.store.ledger().entries == []
    agent.close()


def test_too_few_rankings_are_not_kept_as_the_studys_message(tmp_path):
    config = configured(tmp_path, ranks=RANKS[1][:9])
    agent = Agent(config)
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    write_ranks(config.rankings, LABELS, RANKS[1])
    agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    agent.close()
    # A policy that asks for more holds for a message that is kept, too.
    agent = Agent(configured(tmp_path, min_samples=13))
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    agent.close()


def test_labels_that_the_study_does_not_have_are_not_guessed_at(tmp_path):
    bare = Study(Borda(4, 4), roster=ROSTER)
    agent = Agent(configured(tmp_path, study=bare))
    told = not_answered(Code.DATA, agent, bare.to_json(), Step(1, 0, "advertise"), opening(1, bare))
    assert "agree on a study with the labels" in told
    agent.close()
    numbered = {"layout": "ranks", "header": False}
    config = configured(tmp_path, study=bare, reading=numbered)
    config.rankings.write_text("".join(",".join(map(str, row)) + "\n" for row in RANKS[1]))
    agent = Agent(config)
    agent.answer(bare.to_json(), Step(1, 0, "advertise"), opening(1, bare))
    agent.close()


def test_a_sum_over_few_survivors_is_not_opened(tmp_path):
    agent = Agent(configured(tmp_path, min_survivors=4))
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[0])
    told = not_answered(
        Code.REFUSED, agent, STUDY.to_json(), Step(1, 0, "unmask"), federation.requests[1]
    )
    assert told == "3 survivors are fewer than min_survivors = 4"
    agent.close()
    # All four: opened.
    agent = Agent(configured(tmp_path, min_survivors=4))
    assert Federation(agent, number=2).finish()[1] == [0, 1, 2, 3]
    agent.close()


def test_a_list_cannot_be_made_to_look_longer_than_it_is(tmp_path):
    agent = Agent(configured(tmp_path, min_survivors=4))
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[0])
    request = federation.requests[1]
    for extra in (request[-8:-4] * 2, b"\xff\xff" * 2, b"\0\0"):
        forged = request[:-4] + extra
        forged += answering.hashlib.sha256(forged).digest()[:4]
        with pytest.raises(RefusalError):
            agent.answer(STUDY.to_json(), Step(1, 0, "unmask"), forged)
    agent.close()


def test_runs_count_from_the_masked_step_whatever_becomes_of_them(tmp_path):
    agent = Agent(configured(tmp_path, runs_per_day=2))
    for number in (1, 2, 3):
        Federation(agent, number=number).until("share")  # keys alone cost nothing
    assert agent.store.ledger().entries == []
    open_run = Federation(agent, number=4).until("mask")
    for number in (5, 6):
        federation = Federation(agent, number=number).until("mask")
        request = federation.requests[1]
        sent = federation.step("mask")  # and no further: aborted
        assert (
            agent.answer(STUDY.to_json(), Step(number, 0, "mask"), request) == sent
        )  # counted once
    assert [entry.run for entry in agent.store.ledger().entries] == [5, 6]
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(7, 0, "advertise"), opening(7))
    assert "runs_per_day = 2" in told
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(4, 0, "mask"), open_run.requests[1])
    agent.close()
    # A restart changes nothing.
    agent = Agent(agent.config)
    not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(8, 0, "advertise"), opening(8))
    # A day later there is room.
    agent.close()
    changed_ledger(agent.store.ledger_file, lambda lines: lines[0].update(time=time.time() - DAY))
    for head in agent.store.studies.glob("*/head"):
        head.write_bytes(Ledger(agent.store.ledger_file).head.to_bytes())
    agent = Agent(agent.config)
    agent.answer(STUDY.to_json(), Step(8, 0, "advertise"), opening(8))
    agent.close()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = ", "not valid TOML"),
        ('name = "a"\nrankings = "v"\n', r"the table \[policy\] is missing; add it"),
        (
            'name = "a"\nrankings = "v"\n[policy]\nallow_unsigned = 1\n',
            "allow_unsigned must be True or False, not 1",
        ),
        ('rankings = "v"\n[policy]\nstudies = []\n', "the file has no 'name', which it needs"),
        ('name = ""\nrankings = "v"\n[policy]\nstudies = []\n', "name must be"),
        ('name = "a"\nrankings = 3\n[policy]\nstudies = []\n', "rankings must be a path, not 3"),
        ('name = "a"\nrankings = "v"\ncolour = 1\n[policy]\nstudies = []\n', "'colour' is not"),
        (
            'name = "a"\nrankings = "v"\n[policy]\nstudies = ["abc"]\n',
            "studies must be .* not 'abc'",
        ),
        ('name = "a"\nrankings = "v"\n[policy]\nstudies = "abc"\n', "a list of digests"),
        (
            'name = "a"\nrankings = "v"\n[policy]\nstudies = []\nmin_samples = 0\n',
            "min_samples must be .* not 0",
        ),
        ('name = "a"\nrankings = "v"\n[policy]\nstudies = []\nmost = 1\n', "'most' is not a key"),
        ('name = "a"\nrankings = "v"\nseed = -1\n[policy]\nstudies = []\n', "seed must be"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused_and_named(tmp_path, text, named):
    file = tmp_path / "agent.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=named) as error:
        read_config(file)
    assert error.value.file == str(file)
