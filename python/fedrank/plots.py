"""Pictures of rankings, errors and messages; needs the extra ``plot`` (matplotlib).

Every function returns the Axes it drew in. Without ``ax=`` it makes a figure of its own, which
pyplot does not know of: nothing to close, no display needed, and no window opens. In a
notebook ``ax.figure`` shows it; `save` writes it. Colours are those of Okabe and Ito, which
people with any colour vision tell apart, always with a second mark: a shape, a dash, a label.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedrank._files import write_whole
from fedrank._validation import as_list, as_phi, check_items, plural, whole
from fedrank.consensus import Consensus, aggregate
from fedrank.distances import kendall_distance
from fedrank.exceptions import MissingExtraError
from fedrank.mallows import Mallows
from fedrank.planning.plan import Plan
from fedrank.protocol.federate import FederatedConsensus, as_client, check_clients
from fedrank.rankings.complete import Rankings, as_rankings, same_items
from fedrank.schemes import Borda, Lehmer, Refine, Scheme

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter
except ModuleNotFoundError:
    raise MissingExtraError("pictures need matplotlib: pip install 'fedrank[plot]'") from None

__all__ = ["agreement", "bins", "consensus", "error_curves", "message_sizes", "save", "success"]

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#888888"

METHODS: dict[str, tuple[str, str]] = {
    "borda": (BLUE, "o"),
    "lehmer": (VERMILLION, "s"),
    "footrule": (GREEN, "^"),
    "kemeny": (PURPLE, "D"),
    "lehmernearest": (ORANGE, "v"),
    "refined": (BLACK, "X"),
    "pivot": (SKY, "P"),
    "pick": (GREY, "*"),
}
"""Colour and marker of each method, the same in every figure; letters of the name only."""

MOST_LINES = 30  # items in a bump chart
MOST_COLUMNS = 25  # clients in a bump chart
MOST_BINS = 120  # of the heat map, either way
MOST_NUMBERS = 12  # clients whose distances are written into their cells
LONGEST = 28  # characters of a label
FORMATS: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Suffixes of pictures, with the metadata to leave out: the same picture, the same bytes."""

Clients = Sequence[ArrayLike] | Mapping[Any, ArrayLike]
Sender = Scheme | FederatedConsensus


def consensus(
    result: FederatedConsensus | Consensus | ArrayLike,
    clients: Clients,
    ax: Axes | None = None,
    items: Iterable[Any] | None = None,
) -> Axes:
    """Draw a consensus against the rankings of the clients.

    Up to 30 items and 25 clients it is a bump chart: a line for each item, from its place in
    the consensus on the left through its places in the clients' own Borda consensus (ties by
    item number), with labels at both ends. Beyond that it is a heat map: for each position in
    the consensus, how far from it the clients' rankings put the items there.

    Parameters
    ----------
    result : FederatedConsensus, Consensus or array_like of int, shape (n,)
        The consensus. Clients that a federated one lost are left out.
    clients : sequence or mapping of array_like of int, each of shape (m, n)
        The rankings of each client; the keys of a mapping are the clients' names.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    items : sequence, optional
        Labels of the items; by default those of the rankings.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the consensus and the clients do not rank the same items.

    Examples
    --------
    >>> from fedrank import Mallows, federate
    >>> hospitals = Mallows(0.6, n=10).sample(100, rng=0).split(5, rng=0)
    >>> ax = consensus(federate(hospitals, "borda", rng=0), hospitals)
    >>> len(ax.lines), ax.get_xlabel()
    (10, 'client')
    """
    names, data = named(clients)
    found: object = result
    if isinstance(result, FederatedConsensus):
        if len(data) != len(result.study.roster):
            raise ValueError(
                f"{plural(len(data), 'client')} were given for a result of "
                f"{len(result.study.roster)}: give all, also those that were lost"
            )
        if not isinstance(clients, Mapping):
            names = list(result.study.roster)
        names = [names[client] for client in result.survivors]
        data = [data[client] for client in result.survivors]
        found = result.consensus
    labels = same_items(found, *data)
    places = as_rankings(cast(ArrayLike, found))
    if len(places) != 1:
        raise ValueError(f"the consensus must be one ranking, not {len(places)}")
    n = places.shape[1]
    if n != data[0].n:
        raise ValueError(f"the consensus ranks {n} items but the clients rank {data[0].n}")
    if items is not None:
        labels = check_items(items, n)
    texts = [short(x) for x in labels] if labels else [f"item {i}" for i in range(n)]
    if n > MOST_LINES or len(data) > MOST_COLUMNS:
        return heat_map(places[0], data, texts, ax)
    return bump_chart(places[0], names, data, texts, ax)


def bump_chart(
    places: NDArray[np.int32],
    names: list[str],
    data: list[Rankings],
    labels: list[str],
    ax: Axes | None,
) -> Axes:
    """Draw a line for each item through the consensus and the clients' places."""
    n, columns = len(places), len(data) + 1
    ax = axes(ax, 3.5 + max(2.5, min(10.0, 0.75 * columns)), max(2.4, 1.4 + 0.26 * n))
    table = np.vstack([places, own_consensus(data)])
    styles = list(METHODS.values())
    order = np.argsort(places)
    size = 6 if columns <= 20 else 3
    for place, item in enumerate(order):
        colour, _ = styles[place % len(styles)]
        marker = "os^Dv"[place // len(styles) % 5]
        ax.plot(table[:, item], color=colour, marker=marker, markersize=size, linewidth=1.8)
    ax.axvspan(-0.3, 0.3, color="#EEEEEE", zorder=0)
    ax.set_xlim(-0.3, columns - 0.7)
    ax.set_ylim(n - 0.5, -0.5)  # the best at the top
    ax.set_yticks(range(n), [labels[item] for item in order], parse_math=False)
    for item, place in enumerate(table[-1]):
        ax.annotate(
            labels[item],
            (1, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            verticalalignment="center",
            fontsize=ax.yaxis.get_ticklabels()[0].get_fontsize(),
            parse_math=False,
        )
    name_ticks(ax, [short(name) for name in names], first="consensus")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="client", ylabel="item, best first")
    return ax


def heat_map(
    places: NDArray[np.int32], data: list[Rankings], labels: list[str], ax: Axes | None
) -> Axes:
    """Draw how far from the consensus the rankings put its items."""
    n = len(places)
    ranks = np.concatenate([each.ranks for each in data])
    offsets = ranks - places
    reach = max(1, int(np.abs(offsets).max()))
    # Bins hold whole positions, all equally many; an odd number of offsets, so one is around 0.
    wide = ceil(n / MOST_BINS)
    high = ceil((2 * reach + 1) / MOST_BINS) | 1
    middle = (reach + high // 2) // high
    columns, rows = ceil(n / wide), 2 * middle + 1
    row = (offsets + high // 2) // high + middle
    counts = np.bincount((row * columns + places // wide).ravel(), minlength=rows * columns)
    width = np.bincount(places // wide)  # items in each column; the last may have fewer
    share = counts.reshape(rows, columns) / (len(ranks) * width)
    ax = axes(ax, 9, 4.5)
    least, most = share[share > 0].min(), share.max()
    image = ax.pcolormesh(
        np.minimum(np.arange(columns + 1) * wide, n) - 0.5,
        (np.arange(rows + 1) - middle - 0.5) * high,
        np.ma.masked_equal(share, 0),
        cmap="cividis",
        norm=LogNorm(least, most) if most > 100 * least else Normalize(0, most),
        rasterized=True,
    )
    cast(Figure, ax.figure).colorbar(image, ax=ax, label="share of the rankings")
    ax.axhline(0, color="white", linewidth=0.6, linestyle=":")
    ax.set(
        xlabel="position in the consensus (0 = best)",
        ylabel="position in a ranking,\nminus the consensus",
    )
    if n <= MOST_LINES:
        name_ticks(ax, [labels[item] for item in np.argsort(places)])
        ax.set_xlabel("item, in the order of the consensus")
    return ax


def error_curves(
    table: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    x: str,
    y: str = "mean",
    by: str = "method",
    se: str | None = None,
    dashed: str | None = "where",
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean curves, federated solid and centralized dashed.

    Each method has its colour and marker by name, the same in every figure.

    Parameters
    ----------
    table : iterable of mappings, or path to a CSV file with a header
        The points, one a row.
    x, y : str
        Columns of the coordinates.
    by : str
        Column of the method's name.
    se : str, optional
        Column of the standard error, drawn as a band of one on either side; none where it
        is empty or NaN.
    dashed : str or None
        Column that says ``federated`` (solid) or ``centralized`` (dashed); None draws all solid.
    log : bool
        Whether ``y`` is on a logarithmic axis, linear below its least positive decade so
        that zeros show.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a column is missing, a value is no number, or two rows are the same point.

    Examples
    --------
    >>> rows = [
    ...     {"method": "Borda", "where": "federated", "samples": 1, "mean": 3.0, "se": 0.2},
    ...     {"method": "Borda", "where": "federated", "samples": 5, "mean": 0.5, "se": 0.1},
    ... ]
    >>> ax = error_curves(rows, x="samples", se="se")
    >>> ax.lines[0].get_ydata()
    array([3. , 0.5])
    """
    curves = read_curves(table, x, y, by, se, dashed)
    own = ax is None
    ax = axes(ax, 8, 4.2)
    styles = method_styles({method for method, _ in curves})
    values = [mean for points in curves.values() for _, mean, _ in points]
    lowest = min(0.0, *values)
    for (method, central), points in curves.items():
        xs, means, errors = np.array(points).T
        colour, marker = styles[method]
        ax.plot(
            xs,
            means,
            color=colour,
            linestyle="--" if central else "-",
            linewidth=1.6,
            marker=marker,
            markersize=5,
            markerfacecolor="white" if central else colour,
            markevery=ceil(len(xs) / 12),
        )
        if se is not None:
            # Errors of counts are not below 0, whatever the band says.
            bottom = np.maximum(means - errors, lowest)
            ax.fill_between(xs, bottom, means + errors, color=colour, alpha=0.18, linewidth=0)
    least = 10.0 ** floor(log10(min((value for value in values if value > 0), default=1.0)))
    if log and max(values) > 0:
        ax.set_yscale("symlog", linthresh=least, linscale=0.5)
    if lowest == 0:
        top = ax.get_ylim()[1] if max(values) > 0 else 1.0
        ax.set_ylim(-0.02 * top if ax.get_yscale() == "linear" else -0.2 * least, top)
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    error = "" if se is None else " ± standard error"
    ax.set(xlabel=x.replace("_", " "), ylabel=y.replace("_", " ") + error)
    curve_legend(ax, styles, {central for _, central in curves} if dashed else set(), own)
    return ax


def read_curves(
    table: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    x: str,
    y: str,
    by: str,
    se: str | None,
    dashed: str | None,
) -> dict[tuple[str, bool], list[tuple[float, float, float]]]:
    """Points (x, mean, standard error) of each curve, from left to right.

    Examples
    --------
    >>> read_curves([{"method": "Borda", "m": "2", "mean": 0}], "m", "mean", "method", None, None)
    {('Borda', False): [(2.0, 0.0, 0.0)]}
    """
    if isinstance(table, str | os.PathLike):
        with Path(table).open(encoding="utf-8-sig", newline="") as file:
            rows: list[Any] = list(csv.DictReader(file))
    else:
        rows = as_list(table, "table")
    if not rows:
        raise ValueError("the table has no rows: there is nothing to draw")
    curves: dict[tuple[str, bool], dict[float, tuple[float, float, float]]] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} must be a mapping of columns to values, not {row!r}")
        for column in filter(None, (x, y, by, se, dashed)):
            if row.get(column) is None:
                has = ", ".join(map(str, row))
                raise ValueError(f"row {number} has no column {column!r}; it has {has}")
        where = str(row[dashed]).lower() if dashed else "federated"
        if where not in ("federated", "centralized"):
            raise ValueError(
                f"row {number}: {dashed} must be federated or centralized, not {row[dashed]!r}"
            )
        point = as_number(row, x, number)
        error = as_number(row, se, number, unknown=True) if se else 0.0
        if error < 0:
            raise ValueError(f"row {number}: {se} must not be below 0, but is {error}")
        curve = curves.setdefault((str(row[by]), where == "centralized"), {})
        if point in curve:
            raise ValueError(
                f"row {number} is a second one for {row[by]}, {where}, {x} = {point:g}: "
                "give the rows of one panel only"
            )
        curve[point] = (point, as_number(row, y, number), error)
    return {key: [curve[point] for point in sorted(curve)] for key, curve in curves.items()}


def as_number(row: Mapping[str, Any], column: str, number: int, unknown: bool = False) -> float:
    """Read a finite number of a row; NaN too, if it may be unknown.

    Examples
    --------
    >>> as_number({"mean": "0.5"}, "mean", 0)
    0.5
    """
    if unknown and str(row[column]).strip().lower() in ("", "nan"):
        return float("nan")
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = float("nan")
    if not isfinite(value):
        raise ValueError(f"row {number}: {column} must be a number, not {row[column]!r}")
    return value


def method_styles(methods: set[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method: by name, or one that is free in this figure.

    Examples
    --------
    >>> method_styles({"Borda", "ours"})
    {'Borda': ('#0072B2', 'o'), 'ours': ('#888888', '*')}
    """
    if len(methods) > len(METHODS):
        raise ValueError(
            f"{len(methods)} methods in one figure cannot be told apart: "
            f"give at most {len(METHODS)}"
        )
    keys = {name: "".join(filter(str.isalpha, name.lower())) for name in sorted(methods)}
    known = {key: name for name, key in keys.items() if key in METHODS}
    others = [name for name in keys if name not in known.values()]
    free = [key for key in METHODS if key not in known]
    chosen = {known[key]: METHODS[key] for key in METHODS if key in known}
    return chosen | {name: METHODS[free.pop()] for name in others}


def curve_legend(
    ax: Axes, styles: Mapping[str, tuple[str, str]], central: set[bool], own: bool
) -> None:
    """Explain colours and dashes apart, beside the axes if the figure is ours."""
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=5, label=short(method))
        for method, (colour, marker) in styles.items()
    ]
    for dash, label in ((False, "federated"), (True, "centralized")):
        if dash in central:
            line = Line2D([], [], color="#444444", linestyle="--" if dash else "-", label=label)
            handles.append(line)
    place: dict[str, Any] = {"loc": "best"}
    if own:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    legend = ax.legend(handles=handles, frameon=not own, handlelength=3, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)


def message_sizes(
    senders: Sender | Sequence[Sender] | Mapping[Any, Sender],
    ax: Axes | None = None,
    samples: int = 1,
) -> Axes:
    """Draw how many bits a client sends, by segment, beside its raw rankings.

    The axis is logarithmic: compare where bars end, not how long they are.

    Parameters
    ----------
    senders : Borda, Lehmer or FederatedConsensus; a sequence or mapping of them
        Schemes, of which the message counts, or results, of which the most that a client
        in the sum really sent counts: message, keys, shares and framing. The keys of a
        mapping are the names.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    samples : int
        Rankings that a client holds, for the size of sending them as they are:
        ``samples * n * ceil(log2(n))`` bits.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the schemes are not made for the same number of items.

    Examples
    --------
    >>> from fedrank import Borda, Lehmer
    >>> ax = message_sizes([Borda(978, 10), Lehmer(978, 10, low_bits=4)], samples=50)
    >>> [text.get_text() for text in ax.texts]
    ['1.7 kB', '8.3 kB', '61.1 kB']
    """
    if isinstance(senders, Scheme | FederatedConsensus):
        senders = [senders]
    if isinstance(senders, Mapping):
        names, given = [str(name) for name in senders], list(senders.values())
    else:
        given = as_list(senders, "senders")
        names = [describe(sender) for sender in given]
    if not given:
        raise ValueError("no schemes were given")
    bars = [parts(sender) for sender in given]
    sizes = {scheme_of(sender).n for sender in given}
    if len(sizes) > 1:
        some = ", ".join(map(str, sorted(sizes)))
        raise ValueError(f"the schemes are made for different numbers of items: {some}")
    n = sizes.pop()
    names.append(f"{plural(whole('samples', samples), 'raw ranking')}")
    bars.append({"raw rankings": samples * n * ceil(np.log2(max(2, n)))})
    kinds = list(dict.fromkeys(kind for bar in bars for kind in bar))
    palette = dict(zip(kinds, (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION), strict=False))
    palette["raw rankings"] = GREY
    ax = axes(ax, 7.5, 1.5 + 0.45 * len(bars))
    for kind in kinds:
        rows = [row for row, bar in enumerate(bars) if kind in bar]
        before = [sum(list(bars[row].values())[: list(bars[row]).index(kind)]) for row in rows]
        widths = [bars[row][kind] for row in rows]
        ax.barh(rows, widths, 0.7, before, color=palette[kind], edgecolor="white", label=kind)
    totals = [sum(bar.values()) for bar in bars]
    ax.axvline(totals[-1], color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    firsts = [bits for bar in bars for bits in list(bar.values())[:1] if bits]
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())  # a short axis would crowd them
    low = 10.0 ** (floor(log10(min(firsts))) - 1)
    ax.set_xlim(low, low * max(10.0, max(totals) / low) ** 1.22)  # room for the labels
    for row, total in enumerate(totals):
        ax.annotate(
            human(total),
            (max(total, low), row),
            (4, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    ax.set_yticks(range(len(bars)), [short(name) for name in names], parse_math=False)
    ax.set_ylim(len(bars) - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="bits a client sends", ylabel="scheme")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return ax


def scheme_of(sender: Sender) -> Scheme:
    """Scheme of a sender; complain of what is none."""
    if isinstance(sender, FederatedConsensus):
        return sender.study.scheme
    if isinstance(sender, Scheme):
        return sender
    raise ValueError(f"{sender!r} is neither a scheme nor a federated result")


def describe(sender: Sender) -> str:
    """Name a scheme by what sets it apart.

    Examples
    --------
    >>> from fedrank import Borda
    >>> describe(Borda(5, 3))
    'Borda'
    """
    scheme = scheme_of(sender)
    name = scheme.kind.capitalize()
    if isinstance(scheme, Lehmer):
        name = f"Lehmer, I = {scheme.low_bits}"
    elif isinstance(scheme, Borda) and not scheme.quantize:
        name = "Borda, exact sums"
    elif isinstance(scheme, Refine):
        name = f"Refine, w = {scheme.window}"
    return f"{name}, as sent" if isinstance(sender, FederatedConsensus) else name


def parts(sender: Sender) -> dict[str, int]:
    """Bits of each segment, and of all else that a client sent.

    Examples
    --------
    >>> from fedrank import Borda
    >>> parts(Borda(978, 10))
    {'position': 13692}
    """
    scheme = scheme_of(sender)
    bits: dict[str, int] = {}
    for name, entries, width in scheme.segments:  # several of a name differ in width
        bits[name] = bits.get(name, 0) + entries * width
    if isinstance(sender, FederatedConsensus):
        sent = 8 * int(sender.bytes_up[sender.survivors].max())
        bits["keys, shares, framing"] = sent - scheme.message_bits
    return bits


def human(bits: int) -> str:
    """Write a size in whole bytes, or thousands and millions of them.

    Examples
    --------
    >>> human(9), human(80_000), human(80_000_000)
    ('2 B', '10.0 kB', '10.0 MB')
    """
    size = ceil(bits / 8)
    if size < 1000:
        return f"{size} B"
    power = min(4, int(log10(size)) // 3)
    return f"{size / 1000**power:.1f} {'kMGT'[power - 1]}B"


def agreement(clients: Clients, ax: Axes | None = None, sort: bool = False) -> Axes:
    """Draw how far apart the clients' own consensus rankings are.

    A cell is the Kendall distance of two clients' Borda consensus (ties by item number) over
    the largest possible, ``n (n - 1) / 2``: 0 for the same ranking, about 0.5 for unrelated
    ones, 1 for opposite ones.

    Parameters
    ----------
    clients : sequence or mapping of array_like of int, each of shape (m, n)
        The rankings of each client; the keys of a mapping are the clients' names.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    sort : bool
        Whether to put like clients side by side, by the main axis of their distances.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> ax = agreement([[[0, 1, 2]], [[0, 2, 1]], [[2, 1, 0]]])
    >>> ax.images[0].get_array().round(2).tolist()
    [[0.0, 0.33, 1.0], [0.33, 0.0, 0.67], [1.0, 0.67, 0.0]]
    """
    names, data = named(clients)
    same_items(*data)
    own = own_consensus(data)
    n, count = data[0].n, len(data)
    distances = kendall_distance(own, own) / max(1, n * (n - 1) / 2)
    if sort:
        order = by_likeness(distances)
        distances, names = distances[np.ix_(order, order)], [names[i] for i in order]
    side = min(8.0, 2.6 + 0.42 * count)
    ax = axes(ax, side + 1.2, side)
    most = float(distances.max()) or 1.0
    image = ax.imshow(distances, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    cast(Figure, ax.figure).colorbar(image, ax=ax, label="Kendall distance / largest possible")
    if count <= MOST_NUMBERS:
        for (row, column), value in np.ndenumerate(distances):
            colour = "white" if value > 0.6 * most else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, size=8)
    texts = [short(name) for name in names]
    step = ceil(count / 25)
    ax.set_yticks(range(0, count, step), texts[::step], parse_math=False)
    name_ticks(ax, texts)
    ax.set(xlabel="client", ylabel="client")
    return ax


def by_likeness(distances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order by the first coordinate of classical scaling, the first client in the first half.

    Examples
    --------
    >>> by_likeness(np.array([[0, 4, 1], [4, 0, 3], [1, 3, 0]]) / 4).tolist()
    [0, 2, 1]
    """
    squares = distances**2
    centred = squares.mean(0) + squares.mean(1)[:, np.newaxis] - squares - squares.mean()
    axis = np.linalg.eigh(centred)[1][:, -1]
    if axis[0] > 0:  # an eigenvector's sign is arbitrary
        axis = -axis
    return np.argsort(axis.round(9), kind="stable")


def bins(n: int, phis: float | Iterable[float], ax: Axes | None = None) -> Axes:
    """Draw the places that federated Borda quantizes mean positions to.

    Crosses are the expected positions of a Mallows model (M4). Bars are the bins around
    them, which meet at the midpoints; the outer ones end at the first and last position.

    Parameters
    ----------
    n : int
        Items.
    phis : float or iterable of float
        Dispersions, in [0, 1).
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a dispersion is not in [0, 1): at 1 all expected positions are the same.

    Examples
    --------
    >>> ax = bins(10, [0.1, 0.5, 0.9])
    >>> len(ax.patches), [text.get_text() for text in ax.get_yticklabels()]
    (30, ['0.1', '0.5', '0.9'])
    """
    count = whole("n", n)
    values = [phis] if isinstance(phis, int | float | np.number) else as_list(phis, "phis")
    if not values:
        raise ValueError("no phis were given")
    models = [Mallows(as_phi(phi), n=count) for phi in values]
    for model in models:
        if model.phi == 1:
            raise ValueError("phi must be below 1: at 1 all expected positions are the same")
    ax = axes(ax, 8, 1.3 + 0.5 * len(models))
    for row, model in enumerate(models):
        centroids = model.expected_ranks()
        edges = np.concatenate([[0], (centroids[1:] + centroids[:-1]) / 2, [count - 1]])
        shades = [SKY if place % 2 else "#BFE1F6" for place in range(count)]
        ax.barh([row] * count, np.diff(edges), 0.8, edges[:-1], color=shades)
        ax.plot(centroids, [row] * count, "x", color=BLACK, markersize=5)
    margin = max(0.5, 0.02 * count)
    ax.set_xlim(-margin, count - 1 + margin)
    ax.set_ylim(len(models) - 0.4, -0.6)
    ax.set_yticks(range(len(models)), [f"{model.phi:g}" for model in models])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="mean position (0 = best)", ylabel="dispersion phi")
    return ax


def success(plans: Plan | Iterable[Plan], ax: Axes | None = None) -> Axes:
    """Draw what a planner measured against the number of samples, with its band and its goal.

    Parameters
    ----------
    plans : Plan or iterable of Plan
        For one goal; each is a curve.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no plan, or their goals differ.

    Examples
    --------
    >>> from fedrank import plan
    >>> ax = success(plan("borda", n=8, phi=0.5, clients=5, rng=0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('samples a client', 'share of trials that recover the center')
    """
    listed = [plans] if isinstance(plans, Plan) else as_list(plans, "plans")
    if not listed:
        raise ValueError("no plans were given")
    goals = {(plan.distance is None, plan.distance or 1 - plan.delta) for plan in listed}
    if len(goals) > 1:
        raise ValueError("the plans have different goals: draw those of one goal together")
    recovery, goal = goals.pop()
    ax = axes(ax, 7.5, 4)
    colours = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY]
    for number, plan in enumerate(listed):
        colour = colours[number % len(colours)]
        points = plan.points
        xs = [point.samples for point in points]
        label = f"{plan.method}, phi = {plan.phi:g}"
        values = [point.value for point in points]
        dash = "-" if number < len(colours) else "--"
        ax.plot(xs, values, dash, color=colour, marker="o", markersize=4, label=label)
        low, high = ([getattr(point, side) for point in points] for side in ("low", "high"))
        ax.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        if plan.samples is not None:
            ax.axvline(plan.samples, color=colour, linewidth=0.8, linestyle=":")
    ax.axhline(goal, color="#444444", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    share = "share of trials that recover the center"
    ax.set(xlabel="samples a client", ylabel=share if recovery else "mean Kendall distance")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    return ax


def save(picture: Axes | Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture as PNG, SVG or PDF; the same picture gives the same bytes.

    Folders on the way are made. The file appears whole or not at all.

    Parameters
    ----------
    picture : matplotlib.axes.Axes or matplotlib.figure.Figure
        What to write: the whole figure that the axes are in.
    path : path
        Ends in ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    ValueError
        If the suffix is another one, or there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(bins(10, [0.1, 0.5, 0.9]), Path(folder) / "bins.png")
    ...     (Path(folder) / "bins.png").read_bytes()[1:4]
    b'PNG'
    """
    # Axes may be in a part of a figure; the figure of a part is the whole one.
    figure = picture.figure.figure if isinstance(picture, Axes) else picture
    if not isinstance(figure, Figure):
        raise ValueError(f"only Axes and Figures can be saved, not {type(picture).__name__}")
    target = check_path(path)
    suffix = target.suffix.lower()
    memory = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fedrank"}), settled(figure):
        figure.savefig(memory, format=suffix[1:], dpi=150, metadata=FORMATS[suffix])
    write_whole(target, memory.getvalue())


@contextmanager
def settled(figure: Figure) -> Iterator[None]:
    """Lay a figure out until nothing moves, then hold it still.

    The layout starts from where the last one ended and moves the axes by a hair each time, so
    that a second file would differ from the first. Hence also the rounding.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    laid_out = [ax for ax in figure.axes if ax.get_in_layout()]
    places: list[tuple[float, ...]] = []
    for _ in range(10):  # two or three do
        engine.execute(figure)
        before = places
        bounds = [ax.get_position(original=True).bounds for ax in laid_out]
        places = [tuple(round(float(side), 6) for side in place) for place in bounds]
        if places == before:
            break
    for ax, (x, y, width, height) in zip(laid_out, places, strict=True):
        ax.set_position((x, y, width, height))
        ax.set_in_layout(True)  # which that took away
    figure.set_layout_engine("none")
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def check_path(path: str | os.PathLike[str]) -> Path:
    """Refuse a picture's name that `save` cannot write.

    Examples
    --------
    >>> check_path("bins.gif")
    Traceback (most recent call last):
    ValueError: bins.gif should end in one of .png, .svg, .pdf
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise ValueError(f"{target} should end in one of {', '.join(FORMATS)}")
    if not target.parent.is_dir():
        raise ValueError(f"{target}: there is no folder {target.parent}")
    return target


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure that pyplot does not keep."""
    if ax is None:
        return Figure(figsize=(width, height), layout="constrained").subplots()
    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be one matplotlib Axes, not {type(ax).__name__}")
    return ax


def named(clients: Clients) -> tuple[list[str], list[Rankings]]:
    """Names and rankings of the clients, checked."""
    if isinstance(clients, Mapping):
        names, given = [str(name) for name in clients], list(clients.values())
    else:
        given = as_list(clients, "clients")
        names = [str(client) for client in range(len(given))]
    data = [as_client(client, each, Rankings) for client, each in enumerate(given)]
    check_clients(data)
    return names, data


def own_consensus(data: Sequence[Rankings]) -> NDArray[np.int32]:
    """Borda consensus of each client, ties by item number: a row each."""
    return np.array([aggregate(each, "borda", ties="index").ranks for each in data])


def name_ticks(ax: Axes, texts: list[str], first: str | None = None) -> None:
    """Write names along the x axis, slanted or not all of them where there is little room.

    ``first`` names a column before them, on a line of its own unless slanted.
    """
    columns = len(texts) + (first is not None)
    bounds = ax.get_window_extent().width / cast(Figure, ax.figure).dpi
    room = 0.7 * bounds / columns  # inches; labels at the sides will take some
    step = ceil(0.17 / room)
    slanted = 0.09 * max(map(len, texts)) > room * step
    shown = list(range(0, len(texts), step))
    names = [texts[place] for place in shown]
    if first is not None:
        shown = [0, *(place + 1 for place in shown)]
        names = [first if slanted else f"\n{first}", *names]
    ax.set_xticks(
        shown,
        names,
        rotation=45 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
        parse_math=False,
    )


def short(label: object) -> str:
    """Write a label on one line; of a long one the middle is left out.

    Examples
    --------
    >>> short("the hospital with the longest name, ward 12")
    'the hospital wi…ame, ward 12'
    """
    text = " ".join(str(label).split())
    return text if len(text) <= LONGEST else f"{text[:15]}…{text[-12:]}"
