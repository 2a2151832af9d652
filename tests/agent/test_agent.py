"""What an agent answers, step by step, also after a restart."""

import hashlib
import os
import time
from dataclasses import replace

import pytest

from fedrank import Borda, Lehmer, Rankings, Study, federate
from fedrank._random import seed_bytes, stream_rng
from fedrank.agent import Agent, Code, RefusalError, preview
from fedrank.agent import agent as answering
from fedrank.agent.agent import PRUNE_SECONDS
from fedrank.agent.store import DAY
from fedrank.protocol.secagg import STEPS
from fedrank.transport import Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    STUDY,
    Federation,
    configured,
    files,
    not_answered,
    opening,
)
from helpers.command import write_ranks


def test_an_agents_message_is_in_the_exact_sum(agent):
    federation = Federation(agent)
    total, survivors = federation.finish()
    own = preview(agent.config, STUDY).message
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert survivors == [0, 1, 2, 3]
    assert total.tolist() == (own + others).tolist()


@pytest.mark.parametrize("scheme", [Borda(4, 4, send="centroids"), Lehmer(4, 4)])
def test_with_a_seed_the_message_is_the_one_in_process(tmp_path, scheme):
    study = Study(scheme, LABELS, ROSTER, threshold=3)
    tied = [[0, 1, 2, 3], [3, 2, 1, 0]] * 6
    configs = [configured(tmp_path / str(c), c, study, tied, seed=5) for c in range(4)]
    sent = [preview(config, study).message for config in configs]
    in_process = federate([Rankings(tied, LABELS)] * 4, scheme, rng=5)
    decoded = scheme.decode(sum(sent), 4, rng=stream_rng(seed_bytes(5), 1))
    assert decoded.ranks.tolist() == in_process.ranks.tolist()
    assert len({message.tobytes() for message in sent}) > 1  # a stream each


# The first item is first in every ranking, so that its column may also number them.
DECLARED = {"layout": "ranks", "items_in": "columns"}


def test_items_are_put_into_the_studys_order(tmp_path):
    study = Study(Borda(4, 4, send="centroids", phi=0.05), LABELS[::-1], ROSTER)
    config = configured(tmp_path, study=study, ranks=[[0, 1, 2, 3]] * 12, reading=DECLARED)
    assert preview(config, study).message.tolist() == [3, 2, 1, 0]


def test_the_same_request_gets_the_same_bytes_and_another_is_refused(agent):
    federation = Federation(agent)
    foreign = Federation(agent, number=2)
    for step in STEPS:
        request = federation.requests[1]
        reply = federation.step(step)
        foreign.step(step)
        assert agent.answer(STUDY.to_json(), Step(1, 0, step), request) == reply
        if step != "advertise":
            other = request[:-1] + bytes([request[-1] ^ 1])
            not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(1, 0, step), other)
            assert agent.answer(STUDY.to_json(), Step(1, 0, step), request) == reply


def test_a_second_list_of_survivors_is_refused_after_a_restart_too(agent):
    federation = Federation(agent).until("mask")
    federation.step("mask", but=[3])
    request = federation.requests[1]
    assert len(request) == 40 + 2 * 3
    reply = agent.answer(STUDY.to_json(), Step(1, 0, "unmask"), request)
    # A list that names everybody: of the same session, but for the server's lie.
    body = b"".join(c.to_bytes(2, "little") for c in range(4))
    forged = request[:36] + body
    forged += answering.hashlib.sha256(forged).digest()[:4]
    agent.close()
    again = Agent(agent.config)
    told = not_answered(Code.REFUSED, again, STUDY.to_json(), Step(1, 0, "unmask"), forged)
    assert "round 0 was opened in run 1, and is asked for with 3" in told
    assert again.answer(STUDY.to_json(), Step(1, 0, "unmask"), request) == reply
    again.close()


def test_a_session_goes_on_in_another_agent_after_each_step(agent):
    federation = Federation(agent)
    for step in STEPS:
        request = federation.requests[1]
        reply = federation.step(step)
        federation.agent.close()
        federation.agent = Agent(agent.config)
        assert federation.agent.answer(STUDY.to_json(), Step(1, 0, step), request) == reply
    federation.agent.close()
    assert federation.server.result()[1] == [0, 1, 2, 3]


def test_a_step_of_a_session_that_never_began_is_refused(agent):
    federation = Federation(agent).until("share")
    request = federation.requests[1]
    told = not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(99, 0, "share"), request)
    assert "has not begun" in told
    not_answered(Code.PROTOCOL, agent, STUDY.to_json(), Step(1, 0, "peek"), b"")


def test_a_run_that_got_no_masked_input_may_begin_anew_with_new_keys(agent):
    first = agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
    (old,) = files(agent, "sessions")
    os.utime(old, (0, time.time() - DAY - 1))
    agent.pruned -= PRUNE_SECONDS
    agent.answer(STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert agent.answer(STUDY.to_json(), Step(1, 0, "advertise"), opening(1)) != first


def test_a_repeated_study_gets_the_same_message_though_data_and_ties_change(tmp_path):
    tied = [[0, 1, 2, 3], [3, 2, 1, 0]] * 6
    config = configured(tmp_path, ranks=tied)
    agent = Agent(config)
    first, _ = Federation(agent).finish()
    write_ranks(config.rankings, LABELS, [[3, 2, 1, 0]] * 12)
    for number in range(2, 4):
        assert Federation(agent, number=number).finish()[0].tolist() == first.tolist()
    agent.close()


def test_a_study_is_forgotten_until_it_got_a_masked_input(agent):
    store, rows = agent.store, [[3, 2, 1, 0], [2, 3, 0, 1]] * 6
    federation = Federation(agent).until("mask")
    assert store.forget(STUDY.digest)
    assert not store.forget(STUDY.digest)
    write_ranks(agent.config.rankings, LABELS, rows)
    fresh = preview(agent.config, STUDY).message.tolist()
    assert fresh == STUDY.method.encode(rows, client=0).tolist()
    federation.step("mask")
    assert preview(agent.config, STUDY).message.tolist() == fresh


def test_a_masked_study_whose_rankings_are_gone_is_not_answered_from_the_file(agent):
    Federation(agent).finish()
    (agent.store.studies / STUDY.digest / "rankings").unlink()
    told = not_answered(Code.REFUSED, agent, STUDY.to_json(), Step(2, 0, "advertise"), opening(2))
    assert "agree on a new study" in told
    assert agent.store.rankings(STUDY.digest) is None


def test_rankings_that_do_not_suit_are_not_kept(tmp_path):
    study = Study(Borda(4, 4, send="sums", max_samples=11), LABELS, ROSTER)
    agent = Agent(configured(tmp_path, study=study, ranks=[[0, 1, 2, 3]] * 12, reading=DECLARED))
    step = Step(1, 0, "advertise")
    assert "max_samples" in not_answered(Code.DATA, agent, study.to_json(), step, opening(1, study))
    write_ranks(agent.config.rankings, LABELS, [[0, 1, 2, 3]] * 11)
    assert agent.answer(study.to_json(), step, opening(1, study))
    agent.close()


def test_rankings_that_were_read_otherwise_are_not_answered_from(tmp_path):
    config = configured(tmp_path)
    moved = replace(config, rankings=write_ranks(tmp_path / "other.csv", LABELS, RANKS[0]))
    other = replace(config, reading={"layout": "ranks", "best": "high"})
    first = preview(config, STUDY)
    for changed, named in ((moved, "other.csv"), (other, 'best = "high"')):
        with pytest.raises(
            RefusalError, match=r"were read with .*, but the configuration now says"
        ) as caught:
            preview(changed, STUDY)
        assert caught.value.code is Code.DATA
        assert named in str(caught.value)
        assert "forget what was kept, so that the file is read again" in str(caught.value)
        agent = Agent(changed)
        not_answered(Code.DATA, agent, STUDY.to_json(), Step(1, 0, "advertise"), opening(1))
        agent.close()
    assert preview(config, STUDY).message.tolist() == first.message.tolist()
    agent = Agent(config)
    Federation(agent).finish()
    agent.close()
    with pytest.raises(RefusalError, match="agree on a new study"):
        preview(other, STUDY)


def test_another_spelling_of_a_study_is_refused_although_its_digest_is_allowed(tmp_path):
    text = STUDY.to_json().replace('"threshold":3', '"threshold": 3')
    agent = Agent(configured(tmp_path, studies=(hashlib.sha256(text.encode()).hexdigest(),)))
    told = not_answered(Code.REFUSED, agent, text, Step(1, 0, "advertise"), b"")
    agent.close()
    assert "read differently to people and to programs" in told


@pytest.mark.parametrize(
    "spell", [lambda text: f"{text}\n", lambda text: text.replace(",", ", "), lambda _: "\ud800"]
)
def test_a_study_is_known_by_its_canonical_text_before_it_is_parsed(agent, monkeypatch, spell):
    def parsed(_):
        raise AssertionError("parsed")

    monkeypatch.setattr(Study, "from_json", parsed)
    text = spell(STUDY.to_json())
    told = not_answered(Code.REFUSED, agent, text, Step(1, 0, "advertise"), b"")
    assert "not among those allowed" in told
