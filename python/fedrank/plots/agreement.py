"""A picture of the clients beside each other: how far apart their consensus rankings are."""

from math import ceil
from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedrank._validation import as_bool
from fedrank.distances import kendall_distance
from fedrank.plots._clients import Clients, named, own_consensus
from fedrank.plots._style import axes, name_ticks, short_names, use_fonts
from fedrank.rankings.complete import same_items
from fedrank.rankings.partial import PartialRankings

CHANCE = 0.5  # the mean distance of two unrelated rankings, over the largest possible
MAX_NUMBERED_CLIENTS = 12  # clients whose distances are written into the cells
MAX_TICKS = 25  # client names along the vertical axis


def agreement(clients: Clients, *, ax: Axes | None = None, sort: bool = False) -> Axes:
    """Draw how far apart the clients' own consensus rankings are.

    A cell is the Kendall distance between the Borda consensus of two clients, divided by the
    largest possible distance ``n (n - 1) / 2``: 0 for the same order, 1 for the opposite one, and
    0.5 on average for unrelated rankings, which the colour bar marks as chance. The scale is
    always 0 to 1, so that pictures can be compared.

    A pair of items that either consensus ties counts one half, as in `kemeny_score`; no tie is
    broken. So a client whose own consensus has ties is not at distance 0 from itself.

    Parameters
    ----------
    clients : sequence or mapping of array_like of int, each of shape (m, n)
        The rankings of each client, complete or `PartialRankings`; the keys of a mapping are the
        clients' names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.
    sort : bool
        Whether to put similar clients side by side, by the main axis of their distances.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the clients do not rank the same items.

    Examples
    --------
    >>> ax = agreement([[[0, 1, 2]], [[0, 2, 1]], [[2, 1, 0]]])
    >>> ax.images[0].get_array().round(2).tolist()
    [[0.0, 0.33, 1.0], [0.33, 0.0, 0.67], [1.0, 0.67, 0.0]]
    """
    names, data = named(clients)
    same_items(*data)
    sort = as_bool("sort", sort)
    distances = mean_distances(own_consensus(data))
    if sort:
        order = by_likeness(distances)
        distances, names = distances[np.ix_(order, order)], [names[i] for i in order]
    count = len(data)
    side = min(8.0, 2.8 + 0.42 * count)
    made = ax is None
    ax = axes(ax, side + 1.8, side)
    image = ax.imshow(distances, cmap="RdBu_r", vmin=0, vmax=1, aspect="auto")
    bar = cast(Figure, ax.figure).colorbar(
        image, ax=ax, label="Kendall distance / largest possible"
    )
    bar.ax.axhline(CHANCE, color="black", linewidth=1.5)
    bar.set_ticks(
        [0, 0.25, CHANCE, 0.75, 1], labels=["0 same", "0.25", "0.5 chance", "0.75", "1 opposite"]
    )
    if count <= MAX_NUMBERED_CLIENTS:
        for (row, column), value in np.ndenumerate(distances):
            colour = "white" if abs(value - CHANCE) > 0.35 else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, size=8)
    texts = short_names(names)
    step = ceil(count / MAX_TICKS)
    ax.set_yticks(range(0, count, step), texts[::step], parse_math=False)
    name_ticks(ax, texts, made)
    ax.set(xlabel="client", ylabel="client")
    use_fonts(ax)
    return ax


def mean_distances(rankings: PartialRankings) -> NDArray[np.float64]:
    """Return the distances of all pairs of rankings over the largest; tied pairs count one half.

    The mean over the twins of both rankings is that: on a pair that one of them ties, or both do,
    two of the four pairs of twins disagree.

    Examples
    --------
    >>> mean_distances(PartialRankings([[0, 1, 2], [0, 1, 1]])).round(3)
    array([[0.   , 0.167],
           [0.167, 0.167]])
    """
    m, n = rankings.ranks.shape
    twins = rankings.twins()
    four = kendall_distance(twins, twins).reshape(2, m, 2, m)
    return np.asarray(four.mean(axis=(0, 2)) / max(1, n * (n - 1) // 2), dtype=np.float64)


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
