"""Pictures of rankings: a consensus beside its clients, and the clients beside each other."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fedrank._validation import as_list, check_items, plural
from fedrank.consensus import Consensus, aggregate
from fedrank.distances import kendall_distance
from fedrank.plots._style import METHODS, axes, name_ticks, short
from fedrank.protocol.federate import as_client, check_clients
from fedrank.protocol.result import FederatedConsensus
from fedrank.rankings.complete import Rankings, as_rankings, same_items

MAX_BUMP_ITEMS = 30  # lines in a bump chart
MAX_BUMP_CLIENTS = 25  # columns in a bump chart
MAX_HEAT_BINS = 120  # bins of the heat map, in each direction
MAX_NUMBERED_CLIENTS = 12  # clients whose distances are written into the cells
MAX_TICKS = 25  # client names along the vertical axis

Clients = Sequence[ArrayLike] | Mapping[Any, ArrayLike]


def consensus(
    result: FederatedConsensus | Consensus | ArrayLike,
    clients: Clients,
    ax: Axes | None = None,
    items: Iterable[Any] | None = None,
) -> Axes:
    """Draw a consensus against the rankings of the clients.

    Up to 30 items and 25 clients the picture is a bump chart: one line per item, from its place
    in the consensus on the left through its places in each client's own Borda consensus (ties
    broken by item number), with labels at both ends. Larger inputs give a heat map: for each
    position in the consensus, how far from it the clients' rankings put the items.

    Parameters
    ----------
    result : FederatedConsensus, Consensus or array_like of int, shape (n,)
        The consensus. Clients that dropped out of a federated one are not drawn.
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
    if isinstance(result, FederatedConsensus) and isinstance(clients, Mapping):
        clients = by_roster(result, clients)
    names, data = named(clients)
    found: object = result
    if isinstance(result, FederatedConsensus):
        if len(data) != len(result.study.roster):
            raise ValueError(
                f"{plural(len(data), 'client')} were given for a result of "
                f"{len(result.study.roster)}: give all of them, also those that dropped out"
            )
        if not isinstance(clients, Mapping):
            names = list(result.study.roster)
        names = [name for name, summed in zip(names, result.in_sum, strict=True) if summed]
        data = [each for each, summed in zip(data, result.in_sum, strict=True) if summed]
    labels = same_items(found, *data)
    ranks = as_rankings(cast(ArrayLike, found))
    if len(ranks) != 1:
        raise ValueError(f"the consensus must be one ranking, not {len(ranks)}")
    n = ranks.shape[1]
    if n != data[0].n:
        raise ValueError(f"the consensus ranks {n} items but the clients rank {data[0].n}")
    if items is not None:
        labels = check_items(items, n)
    texts = [short(x) for x in labels] if labels else [f"item {i}" for i in range(n)]
    if n > MAX_BUMP_ITEMS or len(data) > MAX_BUMP_CLIENTS:
        return heat_map(ranks[0], data, texts, ax)
    return bump_chart(ranks[0], names, data, texts, ax)


def by_roster(result: FederatedConsensus, clients: Mapping[Any, ArrayLike]) -> Clients:
    """Put clients into the order of the result's, if these have names.

    Examples
    --------
    >>> from fedrank import federate
    >>> result = federate({name: [[0, 1]] for name in ("north", "east", "south")})
    >>> list(by_roster(result, {"south": [[0, 1]], "east": [[0, 1]], "north": [[0, 1]]}))
    ['north', 'east', 'south']
    """
    if all(isinstance(client, int) for client in result.clients):
        return clients
    for name in result.clients:
        if name not in clients:
            raise ValueError(
                f"client {name!r} of the result was not given: give all of them, also those that "
                "dropped out"
            )
    return {name: clients[name] for name in result.clients}


def bump_chart(
    ranks: NDArray[np.int32],
    names: list[str],
    data: list[Rankings],
    labels: list[str],
    ax: Axes | None,
) -> Axes:
    """Draw one line per item through its positions in the consensus and at the clients."""
    n, columns = len(ranks), len(data) + 1
    ax = axes(ax, 3.5 + max(2.5, min(10.0, 0.75 * columns)), max(2.4, 1.4 + 0.26 * n))
    table = np.vstack([ranks, own_consensus(data)])
    styles = list(METHODS.values())
    order = np.argsort(ranks)
    size = 6 if columns <= 20 else 3
    for position, item in enumerate(order):
        colour, _ = styles[position % len(styles)]
        marker = "os^Dv"[position // len(styles) % 5]
        ax.plot(table[:, item], color=colour, marker=marker, markersize=size, linewidth=1.8)
    ax.axvspan(-0.3, 0.3, color="#EEEEEE", zorder=0)
    ax.set_xlim(-0.3, columns - 0.7)
    ax.set_ylim(n - 0.5, -0.5)  # the best at the top
    ax.set_yticks(range(n), [labels[item] for item in order], parse_math=False)
    for item, position in enumerate(table[-1]):
        ax.annotate(
            labels[item],
            (1, position),
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
    ranks: NDArray[np.int32], data: list[Rankings], labels: list[str], ax: Axes | None
) -> Axes:
    """Draw how far from the consensus the rankings put its items."""
    n = len(ranks)
    held = np.concatenate([each.ranks for each in data])
    offsets = held - ranks
    reach = max(1, int(np.abs(offsets).max()))
    # Every bin holds the same number of positions. A bin of offsets holds an odd number, so that
    # one bin is centred on 0.
    wide = ceil(n / MAX_HEAT_BINS)
    high = ceil((2 * reach + 1) / MAX_HEAT_BINS) | 1
    middle = (reach + high // 2) // high
    columns, rows = ceil(n / wide), 2 * middle + 1
    row = (offsets + high // 2) // high + middle
    counts = np.bincount((row * columns + ranks // wide).ravel(), minlength=rows * columns)
    width = np.bincount(ranks // wide)  # items per column; the last column may have fewer
    share = counts.reshape(rows, columns) / (len(held) * width)
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
    if n <= MAX_BUMP_ITEMS:
        name_ticks(ax, [labels[item] for item in np.argsort(ranks)])
        ax.set_xlabel("item, in the order of the consensus")
    return ax


def agreement(clients: Clients, ax: Axes | None = None, sort: bool = False) -> Axes:
    """Draw how far apart the clients' own consensus rankings are.

    A cell is the Kendall distance between the Borda consensus of two clients (ties broken by item
    number), divided by the largest possible distance ``n (n - 1) / 2``: 0 for the same ranking,
    about 0.5 for unrelated rankings, 1 for opposite ones.

    Parameters
    ----------
    clients : sequence or mapping of array_like of int, each of shape (m, n)
        The rankings of each client; the keys of a mapping are the clients' names.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    sort : bool
        Whether to put similar clients side by side, by the main axis of their distances.

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
    if count <= MAX_NUMBERED_CLIENTS:
        for (row, column), value in np.ndenumerate(distances):
            colour = "white" if value > 0.6 * most else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, size=8)
    texts = [short(name) for name in names]
    step = ceil(count / MAX_TICKS)
    ax.set_yticks(range(0, count, step), texts[::step], parse_math=False)
    name_ticks(ax, texts)
    ax.set(xlabel="client", ylabel="client")
    return ax


def by_likeness(distances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order clients by the first coordinate of classical scaling, so that client 0 comes early.

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


def named(clients: Clients) -> tuple[list[str], list[Rankings]]:
    """Return the names and the checked rankings of the clients."""
    if isinstance(clients, Mapping):
        names, given = [str(name) for name in clients], list(clients.values())
    else:
        given = as_list(clients, "clients")
        names = [str(client) for client in range(len(given))]
    known: Sequence[int | str] = names if isinstance(clients, Mapping) else range(len(given))
    data = [as_client(name, each, Rankings) for name, each in zip(known, given, strict=True)]
    return names, check_clients(data, names if isinstance(clients, Mapping) else None)


def own_consensus(data: Sequence[Rankings]) -> NDArray[np.int32]:
    """Compute each client's Borda consensus, ties broken by item number: one row per client."""
    return np.array([aggregate(each, "borda", ties="index").ranks for each in data])
