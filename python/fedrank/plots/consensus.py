"""Pictures of a consensus beside the rankings of the clients."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import ArrayLike, NDArray

from fedrank._text import width_of
from fedrank._validation import check_items, plural, whole
from fedrank.consensus import Consensus
from fedrank.exceptions import InputError
from fedrank.plots._clients import Clients, named, of_result, own_consensus, places
from fedrank.plots._style import (
    BLACK,
    BLUE,
    CHAR_WIDTH,
    GREY,
    METHODS,
    axes,
    legend,
    name_ticks,
    place_ticks,
    short_names,
    use_fonts,
)
from fedrank.protocol.result import FederatedConsensus
from fedrank.rankings.complete import as_rankings, same_items
from fedrank.rankings.partial import AnyRankings

MAX_BUMP_ITEMS = 30  # lines in a bump chart
MAX_BUMP_CLIENTS = 25  # columns in a bump chart
TOP = 20  # items that are shown of more than MAX_BUMP_ITEMS
MAX_MARKED_CLIENTS = len(METHODS)  # clients that have a mark of their own
MAX_DOTTED_CLIENTS = 40  # clients that have a dot
MIDDLE_HALF: dict[str, Any] = {"color": BLUE, "linewidth": 6, "alpha": 0.45}
MAX_HEAT_BINS = 120  # bins of the heat map, in each direction
CONSENSUS_PLACE = "place in the consensus (1 = best)"


def consensus(
    result: FederatedConsensus | Consensus | ArrayLike,
    clients: Clients,
    *,
    ax: Axes | None = None,
    items: Iterable[Any] | None = None,
    top: int | None = None,
) -> Axes:
    """Draw a consensus against the rankings of the clients.

    There are three pictures:

    - **Lines** (a bump chart), by default up to 30 items and 25 clients: one line per item, from
      its place in the consensus on the left through its places in each client's own Borda
      consensus, with labels at both ends.
    - **The best items**, by default for more items or clients, and with ``top``: one row per item,
      with its place in the consensus and its places in the clients' own consensus rankings. Up to
      8 clients have a mark each. Of more clients the row shows the middle half, and all of them;
      of more than 40 the middle 90%.
    - **A heat map** of all items, with ``top=0``: for each place in the consensus, how far from it
      the clients' rankings put the items.

    Places are 1-based: 1 is the best. No tie is broken: items that are tied in a client's own
    consensus, or in a partial ranking, share the mean of their places. In the bump chart their
    labels on the right begin with ``=``.

    Parameters
    ----------
    result : FederatedConsensus, Consensus or array_like of int, shape (n,)
        The consensus. Clients that dropped out of a federated one are not drawn.
    clients : sequence or mapping of array_like of int, each of shape (m, n)
        The rankings of each client, complete or `PartialRankings`. The keys of a mapping are the
        clients' names; the clients of a list have the names of the result's roster.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.
    items : sequence, optional
        Labels of the items; by default those of the rankings.
    top : int, optional
        How many of the best items to show, by name; 0 draws the heat map of all. By default lines
        of all items if these are few, else the best 20 of more than 30 items.

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
    >>> result = federate(hospitals, "borda", rng=0)
    >>> ax = consensus(result, hospitals)
    >>> len(ax.lines), ax.get_xlabel()
    (10, 'client')
    >>> ax = consensus(result, hospitals, top=3, items="abcdefghij")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a  1', 'b  2', 'c  3']
    """
    if isinstance(result, FederatedConsensus):
        names, data = of_result(result, clients)
    else:
        names, data = named(clients)
    found = cast(ArrayLike, result)
    labels = same_items(found, *data)
    ranks = as_rankings(found)
    if len(ranks) != 1:
        raise InputError(
            f"must be one ranking, not {len(ranks)}", parameter="result", value=len(ranks)
        )
    n = ranks.shape[1]
    if n != data[0].n:
        raise InputError(
            f"the consensus ranks {n} items but the clients rank {data[0].n}",
            value=n,
            remedy="pass the clients that the consensus is of",
        )
    if items is not None:
        labels = check_items(items, n)
    texts = short_names(labels) if labels else [f"item {i}" for i in range(n)]
    names = short_names(names)
    few = n <= MAX_BUMP_ITEMS
    if top is None and few and len(data) <= MAX_BUMP_CLIENTS:
        ax = bump_chart(ranks[0], names, data, texts, ax)
    else:
        count = (n if few else TOP) if top is None else min(n, whole("top", top, least=0))
        if count:
            ax = best_items(ranks[0], names, data, texts, count, ax)
        else:
            ax = heat_map(ranks[0], data, texts, ax)
    use_fonts(ax)
    return ax


def bump_chart(
    ranks: NDArray[np.int32],
    names: list[str],
    data: Sequence[AnyRankings],
    labels: list[str],
    ax: Axes | None,
) -> Axes:
    """Draw one line per item through its places in the consensus and at the clients."""
    n, columns = len(ranks), len(data) + 1
    own = own_consensus(data)
    table = np.vstack([ranks + 1, places(own)])
    last = own.twins().ranks[len(data) - 1]  # a slot for each label, also if items are tied
    tied = np.bincount(own.ranks[-1])[own.ranks[-1]] > 1
    made = ax is None
    sides = 1.2 + 2 * CHAR_WIDTH * max(10, *map(width_of, labels))
    ax = axes(ax, sides + max(2.5, min(10.0, 0.75 * columns)), max(3.4, 1.4 + 0.26 * n))
    styles = list(METHODS.values())
    order = np.argsort(ranks)
    size = 6 if columns <= 20 else 3
    for position, item in enumerate(order):
        colour, _ = styles[position % len(styles)]
        marker = "os^Dv"[position // len(styles) % 5]
        ax.plot(table[:, item], color=colour, marker=marker, markersize=size, linewidth=1.8)
    ax.axvspan(-0.3, 0.3, color="#EEEEEE", zorder=0)
    ax.set_xlim(-0.3, columns - 0.7)
    name_places(ax, [labels[item] for item in order])
    for item, slot in enumerate(last):
        ax.annotate(
            f"= {labels[item]}" if tied[item] else labels[item],
            (1, slot + 1),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            verticalalignment="center",
            fontsize=ax.yaxis.get_ticklabels()[0].get_fontsize(),
            parse_math=False,
        )
    name_ticks(ax, names, made, first="consensus", start=1)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="client", ylabel=CONSENSUS_PLACE)
    return ax


def name_places(ax: Axes, labels: list[str]) -> None:
    """Write items and their places, from 1, along the y axis; the best is at the top."""
    count = len(labels)
    ax.set_ylim(count + 0.5, 0.5)
    texts = [f"{label}  {place}" for place, label in enumerate(labels, start=1)]
    ax.set_yticks(range(1, count + 1), texts, parse_math=False)


def best_items(
    ranks: NDArray[np.int32],
    names: list[str],
    data: Sequence[AnyRankings],
    labels: list[str],
    count: int,
    ax: Axes | None,
) -> Axes:
    """Draw one row per item, best first: its place in the consensus, and at the clients."""
    n = len(ranks)
    order = np.argsort(ranks)[:count]
    table = places(own_consensus(data))[:, order]
    rows = np.arange(1, count + 1)
    made = ax is None
    ax = axes(ax, 9, max(3.4, 1.3 + 0.26 * count))
    many = len(data) > MAX_DOTTED_CLIENTS
    low, high = np.quantile(table, [0.05, 0.95] if many else [0, 1], axis=0)
    ax.hlines(rows, low, high, color=GREY, linewidth=1)
    handles = [
        Line2D([], [], color=BLACK, marker="|", markersize=12, markeredgewidth=2, linestyle="")
    ]
    handles[0].set_label("consensus")
    if len(data) <= MAX_MARKED_CLIENTS:
        # Marks of clients that agree would hide each other, so each has its own height.
        shifts = np.linspace(-0.25, 0.25, len(data)) if len(data) > 1 else [0.0]
        for name, shift, own, (colour, marker) in zip(
            names, shifts, table, METHODS.values(), strict=False
        ):
            label = f"client {name}" if name.isdecimal() else name
            handles += ax.plot(
                own, rows + shift, marker, color=colour, markersize=5, linestyle="", label=label
            )
    else:
        ax.hlines(rows, *np.quantile(table, [0.25, 0.75], axis=0), **MIDDLE_HALF)
        if not many:
            across = np.broadcast_to(rows, table.shape)
            handles += ax.plot(table.ravel(), across.ravel(), ".", color=BLACK, markersize=3)
            handles[-1].set_label("a client")
        whiskers = "middle 90% of clients" if many else f"all {plural(len(data), 'client')}"
        handles += [
            Line2D([], [], label="middle half of clients", **MIDDLE_HALF),
            Line2D([], [], color=GREY, linewidth=1, label=whiskers),
        ]
    ax.plot(rows, rows, "|", color=BLACK, markersize=12, markeredgewidth=2)
    name_places(ax, [labels[item] for item in order])
    last = max(float(high.max()), count)
    margin = max(0.3, 0.02 * last)
    ax.set_xlim(1 - margin, last + margin)
    place_ticks(ax.xaxis, last)
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    of = f"best {count} of {n} items,\n" if count < n else ""
    ax.set(
        xlabel=f"place in a client's own consensus (1 = best, {n} = last)",
        ylabel=f"{of}{CONSENSUS_PLACE}",
    )
    legend(ax, made, handles)
    return ax


def heat_map(
    ranks: NDArray[np.int32], data: Sequence[AnyRankings], labels: list[str], ax: Axes | None
) -> Axes:
    """Draw how far from the consensus the rankings put its items."""
    n = len(ranks)
    held = np.concatenate([places(each) for each in data])
    offsets = held - (ranks + 1)
    reach = max(1, ceil(np.abs(offsets).max()))
    # Every bin holds the same number of places. A bin of offsets holds an odd number, so that
    # one bin is centred on 0. An offset between two bins, by half a place, is half in each.
    wide = ceil(n / MAX_HEAT_BINS)
    high = ceil((2 * reach + 1) / MAX_HEAT_BINS) | 1
    middle = (reach + high // 2) // high
    columns, rows = ceil(n / wide), 2 * middle + 1
    counts = np.zeros(rows * columns)
    for row in (np.floor(offsets / high + 0.5), np.ceil(offsets / high - 0.5)):
        cells = (row.astype(np.int64) + middle) * columns + ranks // wide
        counts += np.bincount(cells.ravel(), minlength=rows * columns) / 2
    width = np.bincount(ranks // wide)  # items per column; the last column may have fewer
    share = counts.reshape(rows, columns) / (len(held) * width)
    least, most = share[share > 0].min(), share.max()
    made = ax is None
    ax = axes(ax, 9, 4.5)
    image = ax.pcolormesh(
        np.minimum(np.arange(columns + 1) * wide, n) + 0.5,
        (np.arange(rows + 1) - middle - 0.5) * high,
        np.ma.masked_equal(share, 0),
        cmap="cividis",
        norm=LogNorm(least, most) if most > 100 * least else Normalize(0, most),
        rasterized=True,
    )
    percent = FuncFormatter(lambda value, _: f"{100 * value:.4g}%")
    bar = cast(Figure, ax.figure).colorbar(
        image, ax=ax, label="share of the rankings", format=percent
    )
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    ax.axhline(0, color="white", linewidth=0.6, linestyle=":")
    ax.set(xlabel=CONSENSUS_PLACE, ylabel="place in a ranking,\nminus place in the consensus")
    if n <= MAX_BUMP_ITEMS:
        name_ticks(ax, [labels[item] for item in np.argsort(ranks)], made, start=1)
        ax.set_xlabel("item, in the order of the consensus")
    else:
        place_ticks(ax.xaxis, n)
    return ax
