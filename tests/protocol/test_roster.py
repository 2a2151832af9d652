"""A roster has identities for all clients or for none, and no two parties share a key."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedrank import Borda, Identity, Kemeny, Study
from fedrank.protocol.roster import MAX_SIGNED, as_roster
from fedrank.protocol.secagg import SIGNED_STEPS, STEPS
from helpers.identities import PARTIES, keys_of, line_of, with_identities

NAMES = ["north", "east", "south"]
*CLIENTS, ME = PARTIES[:4]
METHOD = Borda(2, 3)


def signed(roster=None, coordinator=ME, **options):
    return Study(METHOD, "ab", roster or with_identities(NAMES), None, coordinator, **options)


def test_a_signed_study_has_the_public_lines_of_all_parties():
    study = signed()
    assert study.signed
    assert study.roster == tuple(NAMES)
    assert study.identities == tuple(each.public for each in CLIENTS)
    assert study.coordinator == ME.public
    assert study.fingerprints == tuple(each.fingerprint for each in CLIENTS)
    assert study.named
    assert "signed" in repr(study)


def test_lines_and_identities_give_the_same_study():
    lines = {name: each.public for name, each in with_identities(NAMES).items()}
    spaced = {name: f" {line}\n" for name, line in lines.items()}
    assert signed(lines, ME.public) == signed() == signed(spaced, f"{ME.public}\n")


def test_an_unsigned_study_has_no_identities():
    study = Study(METHOD, "ab", NAMES)
    assert not study.signed
    assert (study.identities, study.coordinator, study.fingerprints) == (None, None, None)
    assert "signed" not in repr(study)


def test_the_json_has_the_identities():
    fields = json.loads(signed().to_json())
    assert fields["roster"] == [
        {"name": name, "identity": each.public} for name, each in zip(NAMES, CLIENTS, strict=True)
    ]
    assert fields["coordinator"] == ME.public


def test_confirm_is_a_step_of_signed_studies_only():
    assert SIGNED_STEPS == ("advertise", "share", "mask", "confirm", "unmask")
    assert signed().steps == signed().round(0).steps == SIGNED_STEPS
    unsigned = Study(METHOD, "ab", NAMES)
    assert (
        unsigned.steps
        == unsigned.round(0).steps
        == STEPS
        == ("advertise", "share", "mask", "unmask")
    )


def test_every_round_has_the_identities():
    kemeny = Study(Kemeny(2, 3, max_samples=9), "ab", with_identities(NAMES), None, ME)
    for round in (kemeny.round(0), kemeny.round(1, [[1, 0]], [0, 1, 2])):
        assert round.signed
        assert round.identities == kemeny.identities
    plain = Study(METHOD, "ab", NAMES).round(0)
    assert (plain.signed, plain.identities) == (False, ())


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip),
        min_size=2,
        max_size=5,
        unique=True,
    ),
    st.permutations(PARTIES),
)
def test_json_goes_both_ways_with_identities(names, parties):
    method = Borda(2, len(names))
    study = Study(method, None, with_identities(names, parties), None, parties[-1])
    again = Study.from_json(study.to_json())
    assert again == study
    assert again.digest == study.digest
    assert again.identities == tuple(each.public for each in parties[: len(names)])
    assert again.coordinator == parties[-1].public
    assert copy.deepcopy(study) == pickle.loads(pickle.dumps(study)) == study


def test_every_identity_is_in_the_digest():
    other = Identity.generate()
    studies = [signed(), signed(coordinator=other), Study(METHOD, "ab", NAMES)]
    studies += [signed(with_identities(NAMES) | {name: other}) for name in NAMES]
    swapped = dict(zip(NAMES, [CLIENTS[1], CLIENTS[0], CLIENTS[2]], strict=True))
    studies.append(signed(swapped))
    assert len({each.digest for each in studies}) == len(studies)
    assert len({each.round(0).digest for each in studies}) == len(studies)


def test_the_coordinator_has_an_identity_exactly_if_the_clients_have():
    with pytest.raises(ValueError, match="coordinator is required where the clients have"):
        signed(coordinator=None)
    with pytest.raises(ValueError, match="coordinator has an identity, but the clients have none"):
        Study(METHOD, "ab", NAMES, None, ME)


@pytest.mark.parametrize("missing", [None, 5, b"fedrank-id1:"])
def test_identities_are_for_all_clients_or_none(missing):
    roster = with_identities(NAMES) | {"east": missing}
    with pytest.raises(ValueError, match="identity of client 'east' must be a public line"):
        signed(roster)
    fields = json.loads(signed().to_json())
    fields["roster"][1]["identity"] = None
    with pytest.raises(ValueError, match="identity of client 'east' must be a public line"):
        Study.from_json(json.dumps(fields))


def mixed(signing, sealing):
    """The signing key of one party and the sealing key of another."""
    return line_of(keys_of(signing.public)[0], keys_of(sealing.public)[1])


NORTH, EAST, _ = CLIENTS


@pytest.mark.parametrize(
    ("east", "me", "message"),
    [
        (NORTH, ME, "client 'north' and client 'east' have the same keys"),
        (mixed(NORTH, EAST), ME, "client 'north' and client 'east' have the same signing key"),
        (mixed(EAST, NORTH), ME, "client 'north' and client 'east' have the same sealing key"),
        (EAST, NORTH, "client 'north' and the coordinator have the same keys"),
        (EAST, mixed(NORTH, ME), "client 'north' and the coordinator have the same signing key"),
        (EAST, mixed(ME, EAST), "client 'east' and the coordinator have the same sealing key"),
    ],
)
def test_no_two_parties_share_a_key(east, me, message):
    with pytest.raises(ValueError, match=message):
        signed(with_identities(NAMES) | {"east": east}, me)


WEAK = [
    ("x", "it is not a public identity"),
    (CLIENTS[0].public[:-1], "damaged or incomplete"),
    (line_of(bytes(32), bytes([9] + 31 * [0])), "signing key is invalid or weak"),
    (line_of(keys_of(NORTH.public)[0], bytes(32)), "sealing key is invalid or weak"),
]


@pytest.mark.parametrize(("line", "message"), WEAK)
def test_weak_and_damaged_identities_are_refused(line, message):
    with pytest.raises(ValueError, match=f"the identity of client 'east': .*{message}"):
        signed(with_identities(NAMES) | {"east": line})
    with pytest.raises(ValueError, match=f"the identity of the coordinator: .*{message}"):
        signed(coordinator=line)


def test_a_name_with_two_identities_in_json_is_refused():
    fields = json.loads(signed().to_json())
    fields["roster"][1]["name"] = "north"
    with pytest.raises(ValueError, match="the roster names 'north' twice"):
        Study.from_json(json.dumps(fields))


def test_the_last_number_is_not_a_client_of_a_signed_study():
    with pytest.raises(ValueError, match="at most 65534 in a study with identities, not 65535"):
        as_roster(dict.fromkeys(map(str, range(MAX_SIGNED + 1)), ""), MAX_SIGNED + 1)
    assert len(as_roster(None, MAX_SIGNED + 1)[0]) == MAX_SIGNED + 1
