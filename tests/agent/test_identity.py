"""Whom an agent answers for: found by key in studies with identities, and by name in others."""

from dataclasses import replace

import pytest

from fedrank import Borda, Identity, Study
from fedrank.agent import Agent, Overlap, Policy, overlaps, read_config
from fedrank.agent.folder import make_store
from fedrank.agent.ledger import CONFIRM, UNMASK
from fedrank.agent.policy import identity_folder
from fedrank.agent.store import Store
from fedrank.exceptions import InputError
from helpers.agents import (
    LABELS,
    ROSTER,
    STUDY,
    configured,
)
from helpers.identities import PARTIES, with_identities

OWNER = Identity.generate()
SIGNED = Study(Borda(4, 4), LABELS, with_identities(ROSTER), coordinator=OWNER.public)


@pytest.fixture
def key(tmp_path):
    """The key of the client that is number 1 in the signed study."""
    PARTIES[1].save(tmp_path / "east.key")
    return tmp_path / "east.key"


def test_a_client_is_found_by_its_key_and_by_its_name_only_without_identities(tmp_path, key):
    named = replace(configured(tmp_path), key=key)
    other = replace(named, name="north")
    bare = configured(tmp_path)
    assert (named.me(SIGNED), other.me(SIGNED), bare.me(SIGNED)) == (1, 1, None)
    assert (named.me(STUDY), other.me(STUDY), bare.me(STUDY)) == (1, 0, 1)
    assert "names identities, and the configuration names no key" in bare.objection(SIGNED, True)
    strange = replace(named, key=tmp_path / "strange.key")
    OWNER.save(strange.key)
    told = strange.objection(SIGNED, True)
    assert told == f"the identity {OWNER.fingerprint} is not in the roster"


def test_studies_without_identities_need_a_word_and_signed_ones_do_not(tmp_path, key):
    policy = Policy((SIGNED.digest, STUDY.digest))
    config = replace(configured(tmp_path), key=key, policy=policy)
    assert config.objection(SIGNED) is None
    assert "refused unless allow_unsigned = true" in config.objection(STUDY)
    assert replace(config, policy=replace(policy, allow_unsigned=True)).objection(STUDY) is None


def test_the_folder_is_that_of_the_key_unless_one_is_named(tmp_path, key, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    file = tmp_path / "agent.toml"
    head = 'name = "east"\nrankings = "votes.csv"\nkey = "east.key"\n'
    file.write_text(f"{head}[policy]\n")
    found = read_config(file)
    assert found.folder == tmp_path / "states" / "fedrank" / PARTIES[1].fingerprint
    assert (found.key, found.identity) == (key, PARTIES[1])
    file.write_text(f'{head}folder = "mine"\n[policy]\n')
    assert read_config(file).folder == tmp_path / "mine"
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", ignored)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert identity_folder("f") == tmp_path / ".local" / "state" / "fedrank" / "f"


def test_an_agent_does_not_begin_with_an_empty_store_for_a_key(tmp_path, key):
    config = replace(configured(tmp_path), key=key)
    with pytest.raises(InputError, match="there is no store of identity"):
        Agent(config)
    assert not config.folder.exists()
    make_store(config.folder, config.public)
    Agent(config).close()
    with pytest.raises(InputError, match="is of no identity"):
        Agent(replace(config, key=None))


def opened(store, study, survivors, step=UNMASK):
    """Enter that a study was opened over these clients."""
    store.keep_study(study.digest, study.to_json())
    store.ledger().enter(study.digest, step, run=1, round=0, survivors=tuple(survivors))


def study_of(names, identities=None, items=LABELS):
    coordinator = None if identities is None else OWNER.public
    roster = names if identities is None else dict(zip(names, identities, strict=True))
    return Study(Borda(len(items), len(names)), items, roster, coordinator=coordinator)


@pytest.mark.parametrize(
    ("names", "left", "joined", "revealed"),
    [
        (["north", "east", "south"], ["west"], [], "shows what west alone sent"),
        (["west", "east", "south", "north"], [], [], "if only yours changed, it is your change"),
        ([*ROSTER, "new"], [], ["new"], "shows what new alone sent"),
        (["east", "north", "new"], ["south", "west"], ["new"], "is of south, west, new only"),
    ],
)
def test_overlaps_name_who_is_in_one_study_only(tmp_path, names, left, joined, revealed):
    config = configured(tmp_path)
    store = Store(config.folder)
    opened(store, STUDY, range(4))
    (found,) = overlaps(config, store, study_of(names, items=LABELS[:3]))
    assert (found.study, found.parties) == (STUDY.digest, tuple(ROSTER))
    assert (found.left, found.joined) == (tuple(left), tuple(joined))
    assert found.revealed.endswith(revealed)


def test_only_survivors_count_and_strangers_do_not(tmp_path):
    config = configured(tmp_path)
    store = Store(config.folder)
    opened(store, STUDY, [0, 1, 2])
    (found,) = overlaps(config, store, study_of(["north", "east", "south"], items=LABELS[:3]))
    assert (found.left, found.joined) == ((), ())
    assert overlaps(config, store, study_of(["east", "west", "new"])) == []  # west was lost
    assert overlaps(config, store, STUDY) == []  # it is no other study


def test_signed_studies_are_compared_by_key_and_others_by_name(tmp_path, key):
    config = replace(configured(tmp_path, studies=()), key=key)
    make_store(config.folder, config.public)
    store = Store(config.folder, config.public)
    opened(store, SIGNED, range(4), CONFIRM)
    renamed = study_of(["a", "b", "c"], PARTIES[:3])  # west's key is not among them
    (found,) = overlaps(config, store, renamed)
    assert (found.left, found.joined) == (("west",), ())
    fresh = [Identity.generate() for _ in range(3)]
    fresh[1] = PARTIES[1]
    assert overlaps(config, store, study_of(ROSTER[:3], fresh)) == []  # names alone are not keys
    (found,) = overlaps(config, store, study_of(ROSTER[:3]))
    assert found.left == ("west",)


def test_an_opened_study_whose_text_is_gone_is_named_all_the_same(tmp_path):
    config = configured(tmp_path)
    store = Store(config.folder)
    store.ledger().enter("a" * 64, UNMASK, run=1, round=0, survivors=(0, 1, 2))
    (found,) = overlaps(config, store, STUDY)
    assert found == Overlap("a" * 64, found.opened)
    assert "look yourself who is in it" in found.revealed


def test_studies_that_are_allowed_and_not_opened_yet_are_named_too(tmp_path):
    config = configured(tmp_path, studies=())
    store, new = Store(config.folder), study_of(["north", "east", "south"], items=LABELS[:3])
    store.allow(STUDY.digest, STUDY.to_json())
    (found,) = overlaps(config, store, new)
    assert (found.study, found.opened, found.left) == (STUDY.digest, None, ("west",))
    listed = replace(config, policy=replace(config.policy, studies=(new.digest, "a" * 64)))
    assert overlaps(listed, store, new) == [found, Overlap("a" * 64, None)]
    store.close(STUDY.digest)
    assert overlaps(config, store, new) == []
