"""An agent reads its file as its configuration says, and shows what it read."""

import json

import pytest

from fedrank import Borda, Kemeny, Study
from fedrank.agent import Agent, Code, Config, Policy, RefusalError, preview, read_config
from fedrank.transport import Step
from helpers.agents import (
    LABELS,
    RANKS,
    ROSTER,
    STUDY,
    configured,
    not_answered,
    opening,
)
from helpers.command import in_one_terminal, run, visible, write_ranks
from helpers.readings import CASES

PARTIAL = Study(Borda(4, 4, partial=True), LABELS, ROSTER)


def labels_of(case):
    found = {
        label
        for order in case.orders
        for each in order
        for label in (each if isinstance(each, list) else [each])
    }
    return sorted(found, key=str)


def config_of(tmp_path, case, study, **options):
    file = tmp_path / "votes.csv"
    file.write_text(case.text)
    policy = Policy((study.digest,), allow_unsigned=True, min_samples=1)
    folder = tmp_path / "state"
    return Config("east", file, folder, tmp_path / "a.sock", policy, reading=options)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_preview_is_of_the_true_rankings_or_is_refused(tmp_path, case):
    labels = labels_of(case)
    exact = Borda(len(labels), 4, send="sums", max_samples=9, partial=True)
    study = Study(exact, labels, ROSTER)
    shown = preview(config_of(tmp_path, case, study, **case.options), study)
    assert (shown.rankings, shown.source.split(" of ")[0]) == (
        len(case.orders),
        f"votes.csv: {case.counted}",
    )
    doubled = dict.fromkeys(labels, 0)  # doubled mid-ranks, by definition
    for order in case.orders:
        place = 0
        for each in order:
            tied = each if isinstance(each, list) else [each]
            for label in tied:
                doubled[label] += 2 * place + len(tied) - 1
            place += len(tied)
    sums = shown.segments[0][1] if len(shown.segments) == 1 else shown.message[-len(labels) :]
    assert sums.tolist() == list(doubled.values())
    if not case.certain:
        (tmp_path / "other").mkdir()
        with pytest.raises(RefusalError, match=r"under \[reading\]") as caught:
            preview(config_of(tmp_path / "other", case, study), study)
        assert caught.value.code is Code.DATA
        assert " = " in str(caught.value)


def test_the_options_are_written_read_and_used(tmp_path):
    votes = tmp_path / "votes.csv"
    rows = [["id", *LABELS], *([100 + i, *row] for i, row in enumerate(RANKS[1]))]
    votes.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    study, config = tmp_path / "study.json", tmp_path / "agent.toml"
    study.write_text(STUDY.to_json())
    arguments = ["agent", "new", study, "--name", "east", "--unsigned"]
    arguments += ["--rankings", votes, "--config", config]
    refused = run(*arguments)
    assert (refused.returncode, config.exists()) == (2, False)
    assert "  --id id: column id is no item" in refused.stderr
    made = run(*arguments, "--id", "id", "--header", "--complete")
    assert (made.returncode, made.stderr) == (0, "")
    line = "votes.csv: 12 rankings of 4 items (ranks, 0 = best; column id skipped)"
    assert made.stdout.startswith(line)
    read = read_config(config)
    assert read.reading == {"id_columns": ["id"], "header": True, "complete": True}
    shown = run("agent", "preview", study, "--config", config)
    assert shown.stdout.startswith(line)
    document = json.loads(run("agent", "preview", study, "--config", config, "--json").stdout)
    assert document["source"] == line
    (tmp_path / "plain").mkdir()
    plain = configured(tmp_path / "plain")
    assert preview(read, STUDY).message.tolist() == preview(plain, STUDY).message.tolist()


def test_in_a_terminal_too_a_preview_says_what_was_read_or_is_refused(tmp_path):
    votes, study, config = (tmp_path / name for name in ("votes.csv", "study.json", "agent.toml"))
    votes.write_text("".join(f"{','.join(map(str, row))}\n" for row in [LABELS, *RANKS[1]]))
    study.write_text(STUDY.to_json())
    where = ["--config", config]
    made, shown = in_one_terminal(
        ["agent", "new", study, "--name", "east", "--unsigned", "--rankings", votes, *where],
        ["agent", "preview", study, *where],
        width=200,
    )
    line = "votes.csv: 12 rankings of 4 items (ranks, 0 = best)"
    assert (made[0], visible(made[1])[0]) == (0, line)
    assert (shown[0], visible(shown[1])[0]) == (0, line)
    with config.open("a") as file:
        file.write('layout = "ranks"\nbest = "high"\n')
    ((code, text),) = in_one_terminal(["agent", "preview", study, *where], width=200)
    assert code == 2
    assert visible(text)[0].startswith("fedrank: the rankings kept for the study were read with")


@pytest.mark.parametrize(
    ("reading", "named"),
    [
        ("layout = 3", "layout must be one of ranks"),
        ('layout = "votes"', "layout must be one of ranks"),
        ('best = "highest"', "best must be one of low, high"),
        ("complete = 1", "complete must be true or false, not 1"),
        ('id_columns = "id"', "id_columns must be a list of texts"),
        ("choices = [1, 2]", "choices must be a list of texts"),
        ('colour = "red"', "there is no option 'colour'"),
        ('layout = "ranks"\ngenes_in = "rows"', "genes_in is for the layout expression"),
        ("genes = 5", "genes must be a file, or a list of texts, not 5"),
        ("genes = [1, 2]", "genes must be a file, or a list of texts"),
        ("header = 1", "header must be true or false, not 1"),
        ('layout = "orders"\nitems_in = "rows"', "items_in is for the layouts ranks, scores"),
        ('overvote = "count"', "overvote must be one of skip, stop"),
    ],
)
def test_options_that_cannot_be_are_refused_when_the_configuration_is_read(
    tmp_path, reading, named
):
    file = tmp_path / "agent.toml"
    text = f'name = "a"\nrankings = "v"\n[policy]\nstudies = []\n[reading]\n{reading}\n'
    file.write_text(text)
    with pytest.raises(ValueError, match=named) as error:
        read_config(file)
    assert str(file) in str(error.value)
    file.write_text('name = "a"\nrankings = "v"\nreading = 3\n[policy]\nstudies = []\n')
    with pytest.raises(ValueError, match=r"\[reading\] must be a table"):
        read_config(file)


def tied(folder, study, **reading):
    """Configure an agent whose rankings have ties."""
    ranks = [[0, 0, 2, 3], [1, 0, 2, 3]] * 6
    chosen = {"layout": "ranks"} | reading
    return configured(folder, study=study, ranks=ranks, seed=7, reading=chosen)


@pytest.mark.parametrize("study", [STUDY, Study(Kemeny(4, 4, max_samples=99), LABELS, ROSTER)])
def test_ties_are_refused_by_a_study_of_complete_rankings_and_may_be_completed(tmp_path, study):
    agent = Agent(tied(tmp_path, study))
    first = Step(1, 0, "advertise")
    told = not_answered(Code.DATA, agent, study.to_json(), first, opening(1, study))
    assert "the study takes complete rankings only" in told
    assert 'layout = "ranks", complete = true: order ties and gaps at random' in told
    agent.close()
    agent = Agent(tied(tmp_path, study, complete=True))
    agent.answer(study.to_json(), first, opening(1, study))
    shown = preview(agent.config, study)
    assert shown.source.endswith("ties and gaps of 6 rankings completed at random)")
    agent.close()


def test_ties_are_kept_for_a_study_that_takes_them_whatever_becomes_of_the_file(tmp_path):
    config = tied(tmp_path, PARTIAL)
    first = preview(config, PARTIAL)
    assert first.message.tolist() == preview(config, PARTIAL).message.tolist()
    write_ranks(config.rankings, LABELS, RANKS[1])
    again = preview(config, PARTIAL)
    assert again.message.tolist() == first.message.tolist()
    assert (
        again.source == first.source == ("votes.csv: 12 rankings of 4 items (ranks, lowest best)")
    )


def test_complete_rankings_may_answer_a_study_of_partial_ones(tmp_path):
    config = configured(tmp_path, study=PARTIAL)
    assert preview(config, PARTIAL).rankings == 12
