"""What a person reads before agreeing to a study."""

import pytest

from fedrank import Borda, Kemeny, Lehmer, Study
from fedrank.protocol.summary import colluders_of, honest_of
from fedrank.schemes import Refine
from helpers.identities import PARTIES, with_identities

NAMES = ["north", "east", "south", "west"]
METHOD = Borda(3, 4)


def parts(study):
    """The lines of a summary, under the names in its margin."""
    found, name = {}, ""
    for line in study.summary().splitlines():
        name = line[:13].strip() or name
        found.setdefault(name, []).append(line[13:])
    return found


def signed(method=METHOD, threshold=None, **options):
    return Study(method, "abc", with_identities(NAMES), threshold, PARTIES[5], **options)


def test_a_signed_study_shows_all_fingerprints_before_the_names():
    study = signed()
    shown = parts(study)
    assert shown["clients"] == [
        "4, with these fingerprints:",
        *(f"{PARTIES[i].fingerprint}  {name}" for i, name in enumerate(NAMES)),
    ]
    assert shown["coordinator"] == [PARTIES[5].fingerprint]
    assert "identities" not in shown


def test_an_unsigned_study_says_what_it_lacks():
    shown = parts(Study(METHOD, "abc", NAMES))
    assert shown["clients"] == ["4:", *NAMES]
    assert shown["identities"][0].startswith("none: ")
    assert "read every input" in shown["identities"][0]
    assert "coordinator" not in shown
    assert shown["threshold"] == ["3 of 4 clients must stay to the end"]


@pytest.mark.parametrize(
    ("threshold", "alone", "honest"),
    [
        (3, "even with the help of up to 1 client", "at least 2 honest ones"),
        (4, "even with the help of up to 3 clients", "one honest input, which is then not hidden"),
    ],
)
def test_the_threshold_says_who_may_collude_and_what_then_hides(threshold, alone, honest):
    stay, hostile, hidden = parts(signed(threshold=threshold))["threshold"]
    assert stay == f"{threshold} of 4 clients must stay to the end"
    assert hostile.endswith(alone)
    assert honest in hidden


def test_just_more_than_half_bears_nobody():
    study = Study(Borda(3, 3), "abc", with_identities(NAMES[:3]), 2, PARTIES[5])
    assert (colluders_of(study), honest_of(study)) == (0, 2)
    _, hostile = parts(study)["threshold"]
    assert hostile.endswith("if no client helps it; with the help of one it may read inputs")


def test_no_set_of_so_many_colluders_can_sign_two_lists_and_one_more_can():
    """Each list of survivors needs t signatures; an honest client signs one list."""
    for clients in range(2, 30):
        for threshold in range(clients // 2 + 1, clients + 1):
            study = Study(Borda(2, clients), threshold=threshold)
            borne = colluders_of(study)
            assert 2 * threshold > (clients - borne) + 2 * borne
            assert 2 * threshold <= (clients - borne - 1) + 2 * (borne + 1)
            assert honest_of(study) == threshold - borne


def test_the_digest_is_there_in_both_spellings():
    study = signed()
    digest, said, *lines = parts(study)["digest"]
    assert (digest, said, len(lines)) == (study.digest, "in words:", 4)
    assert [len(line.split()) for line in lines] == [6] * 4
    assert " ".join(lines).split() == list(study.words)


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        (None, "7, without labels"),
        (list("abcdefg"), "7: a, b, c, …, e, f, g"),
        ([*"ab\n", *"defg"], "7: a, b, , …, e, f, g"),
        ([*"ab", "x" * 99, *"defg"], f"7: a, b, {'x' * 59}…, …, e, f, g"),
    ],
)
def test_the_first_and_the_last_items_are_named(items, shown):
    assert parts(Study(Borda(7, 4), items))["items"] == [shown]
    assert parts(signed())["items"] == ["3: a, b, c"]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (Borda(3, 4), "mean positions in steps of 1/4 place; each client counts once"),
        (
            Borda(3, 4, send="weighted", levels=8, max_samples=9),
            "mean positions in steps of 1/8 place; each ranking counts once",
        ),
        (Borda(3, 4, send="centroids", phi=0.5), "quantized for phi 0.5; each client counts once"),
        (Borda(3, 4, send="sums", max_samples=9), "exact sums of positions; each ranking counts"),
        (Lehmer(3, 4), "most frequent digits of their Lehmer codes"),
        (Lehmer(3, 4, low_bits=1), "the lowest 1 bit of each as a histogram"),
        (
            Kemeny(3, 4, rounds=1, max_samples=9),
            "1 round of Borda and at most 1 round of refinement",
        ),
        (Kemeny(3, 4, max_samples=9), "first round: clients send mean positions in steps of 1/8"),
        (Kemeny(3, 4, max_samples=9), "compare items near each other; each ranking counts once"),
        (Kemeny(3, 4, max_samples=9), "assume that it learns the sum of every pair"),
        (Kemeny(3, 4, window=2, max_samples=9), "compare items up to 2 places apart"),
        (Kemeny(3, 4, majority=True), "near each other; each client counts once"),
        (Kemeny(3, 4, counts=True, max_samples=9), "and the number of rankings is revealed"),
        (Refine([0, 1, 2], 4, max_samples=9), "refinement of a ranking that the method has"),
    ],
)
def test_methods_are_said_in_words_and_exactly(method, said):
    shown = parts(signed(method))["method"]
    assert said in " / ".join(shown)
    assert shown[-1] == f"exactly: {method!r}"


def test_bounds_dispersion_and_noise_are_said():
    bounded = signed(Borda(3, 4, max_samples=5000), fit_phi=True)
    assert parts(bounded)["rankings"] == ["complete; at most 5,000 per client (max_samples)"]
    assert parts(bounded)["dispersion"][0].startswith("fit_phi: one more round")
    shown = parts(signed(Borda(3, 4, partial=True)))
    assert shown["rankings"] == ["complete or partial; any number per client"]
    assert shown["dispersion"] == ["not measured (no fit_phi)"]
    assert shown["privacy"] == ["no noise: the sum that is opened is exact"]


def test_texts_of_others_cannot_forge_lines():
    forged = f"a\n{'coordinator':<13}0000-0000-0000-0000\x1b[8m\u202e"
    study = Study(Borda(2, 2), [forged, "b"], {forged: PARTIES[0], "b": PARTIES[1]}, 2, PARTIES[2])
    shown = parts(study)
    assert shown["coordinator"] == [PARTIES[2].fingerprint]
    assert len(shown["items"]) == 1
    assert len(shown["clients"]) == 3
    assert not {"\x1b", "\u202e"} & set(study.summary())


def test_a_long_roster_is_cut():
    shown = parts(Study(Borda(2, 500)))["clients"]
    assert (len(shown), shown[0], shown[-1]) == (102, "500:", "… 400 more")
