"""A preview shows what will leave, and keeps nothing that is not allowed."""

import time

import pytest

from fedrank import Borda, Lehmer, Rankings, Study, federate
from fedrank.agent import Agent, preview
from fedrank.agent.ledger import DAY
from fedrank.agent.preview import bytes_up
from fedrank.exceptions import RefusalError
from helpers.agents import LABELS, RANKS, ROSTER, STUDY, Federation, configured
from helpers.command import write_ranks


@pytest.mark.parametrize("scheme", [Borda(4, 4), Lehmer(4, 4, low_bits=1)])
def test_the_previews_bytes_are_those_really_sent(scheme):
    study = Study(scheme, LABELS, ROSTER)
    result = federate([Rankings(ranks, LABELS) for ranks in RANKS], scheme)
    assert set(result.bytes_up.tolist()) == {sum(bytes_up(study.round(0)).values())}


def test_a_preview_shows_the_very_message_that_leaves(tmp_path):
    config = configured(tmp_path, ranks=[[0, 1, 2, 3], [3, 2, 1, 0]] * 6)
    shown = preview(config, STUDY)
    agent = Agent(config)
    federation = Federation(agent)
    total, _ = federation.finish()
    others = sum(federation.messages[c] for c in (0, 2, 3))
    assert (total - others).tolist() == shown.message.tolist()
    agent.close()


def test_a_preview_says_since_when_and_of_how_many_rankings(tmp_path):
    config = configured(tmp_path)
    first = preview(config, STUDY)
    write_ranks(config.rankings, LABELS, RANKS[1] * 2)
    again = preview(config, STUDY)
    assert first.rankings == again.rankings == 12
    assert first.kept_since == again.kept_since
    assert abs(first.kept_since - time.time()) < DAY


def test_a_preview_keeps_nothing_for_a_study_that_is_not_allowed(tmp_path):
    config = configured(tmp_path, studies=())
    shown = preview(config, STUDY)
    assert shown.objection is not None
    assert (shown.kept_since, shown.rankings) == (None, 12)
    assert list((config.folder / "studies").iterdir()) == []


def test_a_client_outside_of_the_roster_has_no_message(tmp_path):
    study = Study(Borda(4, 4), LABELS, ["a", "b", "c", "d"])
    config = configured(tmp_path, studies=(study.digest,))
    with pytest.raises(RefusalError, match="east is not in the roster, so it has no message"):
        preview(config, study)
    assert list((config.folder / "studies").iterdir()) == []
