"""``fedrank study``: what its commands write and say, and what they refuse."""

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest

from fedrank import Borda, Kemeny, Lehmer, Study
from fedrank._text import width_of
from fedrank.protocol.identity import save_public
from helpers.command import in_terminal, refused, run, visible
from helpers.identities import PARTIES
from helpers.paths import TESTS

NAMES = ["north", "east", "south"]
ME = PARTIES[5]
SIGNED = [
    *(word for name in NAMES for word in ("--party", f"{name}.pub")),
    "--coordinator",
    "me.pub",
]
TRIAL = [word for name in NAMES for word in ("--name", name)]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, party in zip([*NAMES, "me"], [*PARTIES[:3], ME], strict=True):
        save_public(f"{name}.pub", name, party.public)
    Path("genes.txt").write_text("TP53\nEGFR\nKRAS\nALK\n")


def written():
    """The study in the file, which must be nothing but its JSON."""
    text = Path("study.json").read_bytes().decode()
    study = Study.from_json(text)
    assert text == study.to_json()
    return study


def test_new_writes_a_signed_study_and_prints_it():
    made = run("study", "new", "--items", "genes.txt", *SIGNED)
    assert (made.returncode, made.stderr) == (0, "")
    study = written()
    roster = dict(zip(NAMES, PARTIES, strict=False))
    assert study == Study(Borda(4, 3), ["TP53", "EGFR", "KRAS", "ALK"], roster, None, ME)
    assert made.stdout.startswith(f"{study.summary()}\nstudy: study.json\n")
    assert "reads the words of the digest out" in made.stdout
    assert "no identities" not in made.stdout


def test_a_trial_has_names_and_a_loud_line():
    made = run("study", "new", "--n", "4", *TRIAL, "--out", "study.json")
    assert made.returncode == 0
    assert written() == Study(Borda(4, 3), None, NAMES)
    assert "\n! This study has no identities: whoever runs the server can read every" in made.stdout


@pytest.mark.parametrize(
    ("options", "method", "others"),
    [
        ("--send sums --max-samples 9", Borda(4, 3, send="sums", max_samples=9), {}),
        ("--levels 8 --max-samples 9", Borda(4, 3, levels=8, max_samples=9), {}),
        (
            "--send centroids --phi 0.5 --threshold 2",
            Borda(4, 3, send="centroids", phi=0.5),
            {"threshold": 2},
        ),
        ("--partial", Borda(4, 3, partial=True), {}),
        ("--method lehmer --low-bits 1", Lehmer(4, 3, low_bits=1), {}),
        ("--method lehmer", Lehmer(4, 3), {}),
        (
            "--method lehmer --low-bits paper --phi 0.5 --max-samples 9",
            Lehmer(4, 3, low_bits="paper", phi=0.5, max_samples=9),
            {},
        ),
        (
            "--method kemeny --window 2 --rounds 3 --max-samples 9 --fit-phi",
            Kemeny(4, 3, window=2, rounds=3, max_samples=9),
            {"fit_phi": True},
        ),
        (
            "--method kemeny --send sums --max-samples 9 --partial",
            Kemeny(
                4,
                3,
                start=Borda(4, 3, send="sums", max_samples=9, partial=True),
                max_samples=9,
                partial=True,
            ),
            {},
        ),
    ],
)
def test_options_are_those_of_the_method(options, method, others):
    made = run("study", "new", "--n", "4", *TRIAL, *options.split())
    assert (made.returncode, made.stderr) == (0, "")
    assert written() == Study(method, None, NAMES, **others)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*SIGNED], "pass --items FILE with the labels of the items, or --n"),
        (["--n", "4", "--items", "genes.txt", *SIGNED], "pass --items or --n, not both"),
        (["--n", "1", *SIGNED], "--n must be at least 2: one item is no ranking"),
        (["--items", "one.txt", *SIGNED], "one.txt: there is one label, .* a line of its own"),
        (["--items", "latin.txt", *SIGNED], "latin.txt, line 2: this is not UTF-8; save"),
        (["--items", "wide.txt", *SIGNED], "wide.txt, line 1: this is not UTF-8; save"),
        (["--items", "latin.txt.gz", *SIGNED], "latin.txt.gz, line 2: this is not UTF-8; save"),
        (["--n", "4"], "pass --party NAME.pub for each, .* --name NAME for each"),
        (["--n", "4", *SIGNED, *TRIAL], "pass --party or --name, not both"),
        (["--n", "4", *SIGNED[:-2]], "--coordinator is required"),
        (["--n", "4", *TRIAL, *SIGNED[-2:]], "pass --party for every client, or leave out --coord"),
        (["--n", "4", *SIGNED[2:]], "at least 3 data holders"),
        (["--n", "4", *SIGNED, "--party", "north.pub"], "names 'north' twice"),
        (
            ["--n", "4", *SIGNED[:-1], "north.pub"],
            "the same keys; make one .* 'fedrank identity new'",
        ),
        (["--n", "4", *SIGNED, "--party", "none.pub"], "none.pub: there is no such file"),
        (["--n", "4", *SIGNED, "--party", "secret.key"], "secret.key: this file has a private key"),
        (["--n", "4", *SIGNED[:-1], "secret.key"], "secret.key: this file has a private key"),
        (["--items", "none.txt", *SIGNED], "none.txt: there is no such file"),
        (["--items", "empty.txt", *SIGNED], "empty.txt: the file is empty"),
        (["--items", "twice.txt", *SIGNED], "twice.txt: .*'a' is given twice"),
        (["--n", "99999999999", *TRIAL], "--n must be"),
        (["--n", "4", *TRIAL, "--threshold", "1"], "--threshold must be more than half"),
        (["--n", "4", *TRIAL, "--method", "kemeny"], "need max_samples.*; pass --max-samples"),
        (["--n", "4", *TRIAL, "--send", "sums"], "need max_samples.*; pass --max-samples"),
        (["--n", "4", *TRIAL, "--fit-phi"], "need max_samples.*; pass --max-samples"),
        (["--n", "4", *TRIAL, "--window", "2"], "--window is an option of --method kemeny"),
        (
            ["--n", "4", *TRIAL, "--method", "kemeny", "--window", "wide"],
            "--window must be a whole",
        ),
        (["--n", "4", *TRIAL, "--method", "lehmer", "--partial"], "--partial is an option of"),
        (["--n", "4", *TRIAL, "--out", "genes.txt"], "genes.txt: the file exists already; name"),
        (["--n", "4", *TRIAL, "--out", "none/study.json"], "none/study.json: No such file"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(words, message):
    Path("secret.key").write_text("fedrank-key1:AAAA")
    Path("empty.txt").write_text("\n\n")
    Path("twice.txt").write_text("a\na\n")
    Path("one.txt").write_text("TP53, EGFR\n")
    Path("latin.txt").write_bytes("Ann\nZoë\n".encode("latin-1"))
    Path("wide.txt").write_bytes("Ann\nZoë\n".encode("utf-16"))
    Path("latin.txt.gz").write_bytes(gzip.compress(Path("latin.txt").read_bytes()))
    before = sorted(Path().iterdir())
    told = refused(run("study", "new", *words))
    assert re.search(message, told), told
    assert sorted(Path().iterdir()) == before
    assert Path("genes.txt").read_text().startswith("TP53")


def test_show_prints_the_study_as_new_did():
    made = run("study", "new", "--items", "genes.txt", *SIGNED)
    shown = run("study", "show", "study.json")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == written().summary() + "\n"
    assert made.stdout.startswith(shown.stdout)


def test_show_gives_json_to_programs():
    run("study", "new", "--n", "4", *SIGNED)
    study = written()
    told = json.loads(run("study", "show", "study.json", "--json").stdout)
    assert told["study"] == json.loads(study.to_json())
    assert told["digest"] == study.digest
    assert told["words"] == list(study.words)
    assert told["fingerprints"] == dict(zip(NAMES, study.fingerprints, strict=True))
    assert (told["signed"], told["colluders"], told["honest"]) == (True, 2, 1)
    Path("study.json").unlink()
    run("study", "new", "--n", "4", *TRIAL)
    told = json.loads(run("study", "show", "study.json", "--json").stdout)
    assert (told["signed"], told["colluders"], told["honest"]) == (False, None, None)
    assert told["fingerprints"] == dict.fromkeys(NAMES)


def test_show_is_loud_about_a_trial():
    run("study", "new", "--n", "4", *TRIAL)
    assert "! This study has no identities" in run("study", "show", "study.json").stdout


def test_show_refuses_another_spelling():
    run("study", "new", "--n", "4", *SIGNED)
    file = Path("study.json")
    file.write_text(file.read_text() + "\n")
    told = refused(run("study", "show", file))
    assert "study.json: this text of a study may read differently to people and to programs" in told
    assert "make it again with 'fedrank study new'" in told


def test_names_of_others_do_not_begin_a_line_in_a_narrow_terminal():
    forged = "日" * 12 + " coordinator 0000-0000-0000-0000"
    Path("north.pub").unlink()
    save_public("north.pub", forged, PARTIES[0].public)
    code, shown = in_terminal("study", "new", "--n", "4", *SIGNED, width=60)
    assert code == 0
    assert f"{' ' * 15}coordinator 0000-0000-0000-0000" in shown
    assert max(width_of(line.rstrip()) for line in visible(shown)) <= 60
    assert [line for line in visible(shown) if line.startswith("coordinator")] == [
        f"coordinator  {ME.fingerprint}"
    ]


def without_keys(text):
    """A summary without what differs each time: fingerprints, the digest and its words."""
    return re.sub(r"[0-9a-f]{4}(-[0-9a-f]{4}){3}", "", text).partition("digest  ")[0]


def test_the_commands_of_the_page_do_what_it_says():
    for file in Path().iterdir():
        file.unlink()
    Path("genes.txt").write_text("TP53\nEGFR\nKRAS\n")
    page = (TESTS.parent / "docs" / "howto" / "study.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    shown = [run(*shlex.split(line)[1:]) for line in lines]
    assert len(shown) == 10
    assert [(done.returncode, done.stderr) for done in shown] == [(0, "")] * len(shown)
    (said,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert without_keys(said) == without_keys(written().summary())
    assert Path("kemeny.json").exists()


def test_labels_that_look_alike_are_named_loudly():
    labels = [
        "Zo\xeb",
        "Zoe\u0308",
        "TP53",
        "\u0422\u042053",
        "A\u200b",
        "A",
        "T\u042053x",
        "TNF-α",
    ]
    Path("genes.txt").write_text("\n".join(labels), encoding="utf-8")
    made = run("study", "new", "--items", "genes.txt", *SIGNED)
    assert made.returncode == 0
    same = (
        r"! These labels look the same, but are not: 'Zo\xeb' and 'Zoe\u0308', "
        r"'TP53' and '\u0422\u042053', 'A\u200b' and 'A'."
    )
    mixed = r"! These labels mix letters of several alphabets in a word: 'T\u042053x'."
    for shown in (made.stdout, run("study", "show", "study.json").stdout):
        assert f"\n{same}\n{mixed}\n" in shown


def test_show_prints_all_items_if_asked():
    labels = [f"gene {number}" for number in range(1, 21)]
    Path("genes.txt").write_text("\n".join(labels))
    run("study", "new", "--items", "genes.txt", *SIGNED)
    shown = run("study", "show", "study.json", "--items").stdout
    assert shown == written().summary() + "\n" + "".join(
        f"{number:<13}gene {number}\n" for number in range(1, 21)
    )
    Path("study.json").unlink()
    run("study", "new", "--n", "4", *SIGNED)
    shown = run("study", "show", "study.json", "--items").stdout
    assert "The items have no labels: they are the numbers 0 to 3." in shown


def test_show_says_that_a_file_is_a_private_key():
    ME.save("me.key")
    told = refused(run("study", "show", "me.key"))
    assert told == "fedrank: me.key: this is a private key, not a study; name the study's file\n"
