"""``fedrank study``: what all parties agree on before anything is computed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fedrank._files import write_whole
from fedrank.cli import _output as output
from fedrank.cli._method import (
    FitPhiOption,
    LevelsOption,
    LowBitsOption,
    MethodName,
    MethodOption,
    PhiOption,
    RoundsOption,
    SendOption,
    ThresholdOption,
    WindowOption,
    as_window,
    method_of,
)
from fedrank.cli._reading import check_file, read_labels
from fedrank.cli.agent import StudyArgument, read_study
from fedrank.exceptions import InputError
from fedrank.protocol.identity import load_public
from fedrank.protocol.roster import Roster, as_names
from fedrank.protocol.secagg import MIN_SURVIVORS
from fedrank.protocol.study import Study
from fedrank.protocol.summary import colluders_of, honest_of

MIN_ITEMS = 2

app = typer.Typer(no_args_is_help=True, help="Write and show what all parties agree on.")


@app.command()
def new(
    items: Annotated[
        Path | None, typer.Option(help="File with the labels of all items, one per line.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Number of items, if they have no labels.")
    ] = None,
    party: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="NAME.pub", help="Public identity of a data holder; repeat it for each."
        ),
    ] = None,
    coordinator: Annotated[
        Path | None,
        typer.Option(metavar="NAME.pub", help="Public identity of the coordinator."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="For a trial, instead of --party: name of a data holder without an identity; "
            "repeat it for each."
        ),
    ] = None,
    method: MethodOption = MethodName.BORDA,
    send: SendOption = None,
    levels: LevelsOption = None,
    phi: PhiOption = None,
    low_bits: LowBitsOption = None,
    window: WindowOption = None,
    rounds: RoundsOption = None,
    max_samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of rankings per client; it is public. Choose it before anybody "
            "looks at data. kemeny, --send weighted, --send sums, --low-bits paper and --fit-phi "
            "need it.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Allow rankings with ties and gaps.")
    ] = False,
    threshold: ThresholdOption = None,
    fit_phi: FitPhiOption = False,
    out: Annotated[Path, typer.Option(help="The file to write; it must not exist.")] = Path(
        "study.json"
    ),
) -> None:
    """For the coordinator: write a study, which all data holders must agree to.

    Ask every data holder for the public file that 'fedrank identity new' made,
    and compare its fingerprint by telephone or in person. Then send the study
    to all of them.

    Example: fedrank study new --items genes.txt --party north.pub
    --party east.pub --party south.pub --coordinator me.pub
    """
    labels, count = labels_of(items, n)
    roster = roster_of(party or [], name or [])
    options = {"send": send, "levels": levels, "phi": phi, "low_bits": low_bits}
    options |= {"window": as_window(window), "rounds": rounds}
    made = method_of(method, count, len(party or name or []), options, max_samples, partial)
    me = None if coordinator is None else read_public(coordinator)[1]
    study = Study(made, labels, roster, threshold, me, fit_phi=fit_phi)
    try:
        write_whole(out, study.to_json().encode(), replace=False)
    except FileExistsError:
        problem, remedy = "the file exists already", "name another with --out"
        raise InputError(problem, file=out, remedy=remedy) from None
    output.say_study(study)
    output.say_where(out, "study")
    output.say(
        "Send the file to all parties. Each one runs 'fedrank study show' on its copy, and reads "
        "the words of the digest out to the others, by telephone or in person."
    )


@app.command()
def show(
    study: StudyArgument,
    as_document: output.JsonOption = False,
    all_items: Annotated[
        bool, typer.Option("--items", help="Print the labels of all items, in their order.")
    ] = False,
) -> None:
    """Say in words what a study is, with its digest as words to read out."""
    agreed = read_study(study)
    if as_document:
        typer.echo(output.as_json(document_of(agreed)), nl=False)
        return
    output.say_study(agreed)
    if all_items and agreed.items is None:
        output.say(f"The items have no labels: they are the numbers 0 to {agreed.method.n - 1:,}.")
    elif all_items:
        output.say_items(agreed.items or ())


def document_of(study: Study) -> dict[str, object]:
    """Gather what a program may want to know of a study."""
    marks = study.fingerprints or [None] * len(study.roster)
    return {
        "study": json.loads(study.to_json()),
        "digest": study.digest,
        "words": list(study.words),
        "signed": study.signed,
        "fingerprints": dict(zip(study.roster, marks, strict=True)),
        "colluders": colluders_of(study) if study.signed else None,
        "honest": honest_of(study) if study.signed else None,
        "summary": study.summary(),
    }


def labels_of(items: Path | None, n: int | None) -> tuple[Sequence[str] | None, int]:
    """Return the labels, if there are any, and how many items there are."""
    if items is not None and n is not None:
        raise ValueError("pass --items or --n, not both: the file says how many items there are")
    if items is None and n is None:
        raise ValueError("pass --items FILE with the labels of the items, or --n with their number")
    if items is None:
        assert n is not None  # one of them is given
        if n < MIN_ITEMS:
            raise ValueError(f"--n must be at least {MIN_ITEMS}: one item is no ranking")
        return None, n
    labels = [str(label) for label in read_labels(items, utf8=True)]
    if len(labels) < MIN_ITEMS:
        raise InputError(
            "there is one label, and one item is no ranking",
            file=items,
            remedy="write each label on a line of its own",
        )
    return labels, len(labels)


def roster_of(parties: Sequence[Path], names: Sequence[str]) -> Roster:
    """Return the roster: names with identities, or names alone."""
    if parties and names:
        raise ValueError(
            "pass --party or --name, not both: a data holder has an identity, or a name for a trial"
        )
    if not parties and not names:
        raise ValueError(
            "name the data holders: pass --party NAME.pub for each, or for a trial without "
            "identities --name NAME for each"
        )
    found = [read_public(file) for file in parties]
    checked = as_names([name for name, _ in found] or names, len(parties or names))
    if len(checked) < MIN_SURVIVORS:
        raise ValueError(
            f"a study needs at least {MIN_SURVIVORS} data holders, since a sum over two shows each "
            "the other's message: pass more --party or --name"
        )
    if not found:
        return checked
    return dict(zip(checked, [line for _, line in found], strict=True))


def read_public(path: Path) -> tuple[str, str]:
    """Read the file of a public identity."""
    check_file(path)
    return load_public(path)
