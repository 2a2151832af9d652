"""``fedrank plan``: how many rankings each client needs, and how much it sends."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fedrank import theory
from fedrank._validation import plural
from fedrank.cli import _output as output
from fedrank.planning.goals import DEFAULT_DELTA
from fedrank.planning.plan import ESTIMATE_FACTOR, LIMIT, Plan, estimate
from fedrank.planning.plan import plan as find
from fedrank.schemes import Borda, Lehmer

PHIS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
ANNOUNCED_SECONDS = 5.0  # a search that takes longer is announced


class Method(StrEnum):
    """The scheme to plan for."""

    BORDA = "borda"
    LEHMER = "lehmer"
    ALL = "all"


def plan(
    items: Annotated[int, typer.Option(min=1, help="Number of items.")],
    clients: Annotated[int, typer.Option(min=1, help="Number of clients that hold rankings.")],
    phi: Annotated[
        float | None,
        typer.Option(help="Dispersion, from 0 to 1; by default a table of values from 0.1 to 0.8."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help=f"Allowed probability of missing the true order (default {DEFAULT_DELTA})."
        ),
    ] = None,
    distance: Annotated[
        float | None,
        typer.Option(help="Allowed mean Kendall distance to the true order, instead of --delta."),
    ] = None,
    method: Annotated[Method, typer.Option(help="What the clients send.")] = Method.BORDA,
    limit: Annotated[
        int, typer.Option(min=1, help="Largest number of rankings per client to try.")
    ] = LIMIT,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw success against rankings per client, to this PNG, SVG or PDF."),
    ] = None,
    seed: output.SeedOption = 0,
    as_document: output.JsonOption = False,
) -> None:
    """Find by simulation how many rankings each client needs.

    The tables also show how much a client sends, and the paper's theorems,
    whose constants are far larger than necessary. If a search takes more than
    a few seconds, and its time can be estimated, the estimate is printed
    first. That is so for Borda without --distance.

    Example: fedrank plan --items 978 --clients 10 --phi 0.6
    """
    methods = [Method.BORDA, Method.LEHMER] if method is Method.ALL else [method]
    if picture is not None:
        from fedrank import plots  # noqa: PLC0415  an extra

        plots.check_path(picture)
    found = [
        one(each.value, items, value, clients, delta, distance, limit, seed)
        for each in methods
        for value in (PHIS if phi is None else (phi,))
    ]
    if picture is not None:
        with plots.off_screen():
            plots.save(plots.success([plan for plan, _ in found]), picture)
    sizes = messages(items, clients, [plan for plan, _ in found])
    if as_document:
        told = [asdict(plan) | others | {"bits": sizes} for plan, others in found]
        typer.echo(output.as_json(told[0] if len(told) == 1 else told), nl=False)
        return
    show(found, items, clients)
    rows = [[name, f"{bits:,}", f"{-(-bits // 8):,}"] for name, bits in sizes.items()]
    output.show("Message per client", ["scheme", "bits", "bytes"], rows)
    if picture is not None:
        output.say_where(picture, "picture")


def one(
    method: str,
    items: int,
    phi: float,
    clients: int,
    delta: float | None,
    distance: float | None,
    limit: int,
    seed: int,
) -> tuple[Plan, dict[str, Any]]:
    """Plan for one method and dispersion; announce a long search."""
    goal: dict[str, Any] = {"delta": delta, "distance": distance, "limit": limit}
    seconds = estimate(method, items, phi, clients, **goal)
    if seconds is not None and seconds > ANNOUNCED_SECONDS:
        least, most = seconds / ESTIMATE_FACTOR, seconds * ESTIMATE_FACTOR
        took = f"{duration(least)} to {duration(most)}"
        typer.echo(f"{method}, phi = {phi}: this takes roughly {took}", err=True)
    found = find(method, items, phi, clients, rng=seed, **goal)
    if distance is None:
        proved = theorem(method, items, phi, clients, DEFAULT_DELTA if delta is None else delta)
    else:
        proved = none("the theorems bound the probability of recovery, not the distance")
    return found, {"theory": proved, "estimated_seconds": seconds}


def duration(seconds: float) -> str:
    """Return a time in seconds or minutes.

    Examples
    --------
    >>> duration(17.2), duration(156)
    ('17 seconds', '3 minutes')
    """
    return f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"


def theorem(method: str, items: int, phi: float, clients: int, delta: float) -> dict[str, Any]:
    """Return the number of rankings by the theorem, or why no theorem applies."""
    try:
        told = theory.samples(method, items, phi, delta, clients)
    except theory.NoTheoremError as error:
        return none(str(error))
    return {"theorem": told.theorem, "printed": told.printed, "proved": told.proved}


def none(problem: str) -> dict[str, Any]:
    """Return that no theorem applies, and why."""
    return {"theorem": None, "printed": None, "proved": None, "problem": problem}


def messages(items: int, clients: int, plans: list[Plan]) -> dict[str, int]:
    """Return the bits of a client's message by scheme, for the planned number of rankings."""
    samples = max((plan.samples or 1 for plan in plans), default=1)
    schemes: dict[str, Borda | Lehmer] = {
        "Borda": Borda(items, clients),
        "Borda of the paper": Borda(items, clients, send="centroids"),
        f"Borda, exact sums of {plural(samples, 'ranking')}": Borda(
            items, clients, send="sums", max_samples=samples
        ),
        "Lehmer, nearest": Lehmer(items, clients),
    }
    phi = plans[0].phi
    if phi + phi**2 < 1 + phi**items:
        paper = Lehmer(items, clients, phi=phi, low_bits="paper", max_samples=samples)
        schemes[f"Lehmer of the paper, phi = {phi:g}"] = paper
    return {name: scheme.message_bits for name, scheme in schemes.items()}


def show(
    found: list[tuple[Plan, dict[str, Any]]],
    items: int,
    clients: int,
) -> None:
    """Print the plans next to the theorems."""
    asked_for = found[0][0]
    if asked_for.delta is not None:
        goal = f"the true order with probability {1 - asked_for.delta:g}"
    else:
        goal = f"a mean Kendall distance of {asked_for.distance:g}"
    columns = ["scheme", "phi", "rankings per client", "range", "by the theorem", "time"]
    rows = []
    stopped: list[str] = []
    for plan, others in found:
        settled = f"{plan.at_least}…{plan.at_most or ''}"
        tried = max((point.samples for point in plan.points), default=plan.limit)
        many = f"none up to {tried:,}" if plan.samples is None else f"{plan.samples:,}"
        if plan.samples is None and tried < plan.limit:
            stopped.append(
                f"{plan.method}, phi {plan.phi:g}: the search stopped at {tried:,} rankings per "
                "client, since eight times as many had not brought the consensus nearer; more "
                "may still be enough"
            )
        proved = others["theory"]["proved"]
        asked = "none applies" if proved is None else f"{proved:,}"
        rows.append([plan.method, plan.phi, many, settled, asked, f"{plan.seconds:.1f} s"])
    sizes = f"{plural(items, 'item')}, {plural(clients, 'client')}"
    output.show(f"{sizes}: {goal}", columns, rows)
    for sentence in stopped:
        output.say(f"! {sentence}")
