"""Pictures of messages: how many bytes a client sends, and how Borda rounds what it sends."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from fedrank._validation import as_list, as_phi, plural, whole
from fedrank.exceptions import InputError
from fedrank.mallows import Mallows
from fedrank.plots._style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    axes,
    legend,
    place_ticks,
    short_names,
    use_fonts,
)
from fedrank.protocol.result import FederatedConsensus
from fedrank.schemes import Borda, Lehmer, Refine, Scheme

Sender = Scheme | FederatedConsensus

UNITS = ("bytes", "kB", "MB", "GB", "TB")
LIGHT_SKY = "#BFE1F6"


def message_sizes(
    senders: Sender | Sequence[Sender] | Mapping[Any, Sender],
    *,
    ax: Axes | None = None,
    samples: int = 1,
) -> Axes:
    """Draw how many bytes each client sends, by segment, beside its raw rankings.

    The axis is linear and begins at 0, so that lengths can be compared. The number at the end of
    each bar is its size, rounded up to whole bytes.

    Parameters
    ----------
    senders : Borda, Lehmer or FederatedConsensus; a sequence or mapping of them
        A scheme stands for the size of its message. A result stands for the most that one of its
        surviving clients sent: message, keys, shares and framing. The keys of a mapping are the
        names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.
    samples : int
        Rankings per client, for the size of sending them as they are:
        ``samples * n * ceil(log2(n))`` bits.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the schemes have different numbers of items.

    Examples
    --------
    >>> from fedrank import Borda, Lehmer
    >>> ax = message_sizes([Borda(978, 10), Lehmer(978, 10, low_bits=4)], samples=50)
    >>> [text.get_text() for text in ax.texts]
    ['2.0 kB', '8.3 kB', '61.1 kB']
    >>> ax.get_xlabel()
    'kB per client'
    """
    if isinstance(senders, Scheme | FederatedConsensus):
        senders = [senders]
    if isinstance(senders, Mapping):
        names, given = [str(name) for name in senders], list(senders.values())
    else:
        given = as_list(senders, "senders")
        names = [describe(sender) for sender in given]
    if not given:
        raise InputError(
            "must not be empty", parameter="senders", remedy="pass at least one scheme or result"
        )
    bars = [parts(sender) for sender in given]
    sizes = {scheme_of(sender).n for sender in given}
    if len(sizes) > 1:
        some = ", ".join(map(str, sorted(sizes)))
        raise InputError(
            f"must all be for one number of items, not for {some}",
            parameter="senders",
            remedy="draw one picture per number of items",
        )
    n = sizes.pop()
    names.append(plural(whole("samples", samples), "raw ranking"))
    bars.append({"raw rankings": samples * n * ceil(np.log2(max(2, n)))})
    kinds = list(dict.fromkeys(kind for bar in bars for kind in bar))
    palette = dict(zip(kinds, (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION), strict=False))
    palette["raw rankings"] = GREY
    made = ax is None
    ax = axes(ax, 8.5, 1.5 + 0.45 * len(bars))
    for kind in kinds:
        rows = [row for row, bar in enumerate(bars) if kind in bar]
        before = [sum(list(bars[row].values())[: list(bars[row]).index(kind)]) for row in rows]
        widths = [bars[row][kind] / 8 for row in rows]
        lefts = [bits / 8 for bits in before]
        ax.barh(rows, widths, 0.7, lefts, color=palette[kind], label=kind)
    totals = [sum(bar.values()) for bar in bars]
    ax.axvline(totals[-1] / 8, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    for row, total in enumerate(totals):
        ax.annotate(
            human(total),
            (total / 8, row),
            (4, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    most = max(1.0, max(totals) / 8)
    ax.set_xlim(0, 1.15 * most)  # room for the labels
    power = power_of_1000(most / 10)  # bytes up to 10,000
    ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size / 1000**power:,g}"))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=power == 0, min_n_ticks=1))
    ax.set_yticks(range(len(bars)), short_names(names), parse_math=False)
    ax.set_ylim(len(bars) - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel=f"{UNITS[power]} per client", ylabel="scheme")
    legend(ax, made)
    use_fonts(ax)
    return ax


def scheme_of(sender: Sender) -> Scheme:
    """Return the scheme of a sender."""
    if isinstance(sender, FederatedConsensus):
        return sender.scheme
    if isinstance(sender, Scheme):
        return sender
    raise InputError(
        f"must be schemes or federated results, not {sender!r}", parameter="senders", value=sender
    )


def describe(sender: Sender) -> str:
    """Name a scheme by its kind and its most important parameter.

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
    elif isinstance(scheme, Borda) and scheme.send != "means":
        name = f"Borda, {'exact sums' if scheme.send == 'sums' else scheme.send}"
    elif isinstance(scheme, Refine):
        name = f"Refine, w = {scheme.window}"
    return f"{name}, as sent" if isinstance(sender, FederatedConsensus) else name


def parts(sender: Sender) -> dict[str, int]:
    """Count the bits of each segment, and of everything else that a client sent.

    Examples
    --------
    >>> from fedrank import Borda
    >>> parts(Borda(978, 10))
    {'mean': 15648}
    """
    scheme = scheme_of(sender)
    bits: dict[str, int] = {}
    for name, entries, width in scheme.segments:  # segments of one name may differ in width
        bits[name] = bits.get(name, 0) + entries * width
    if isinstance(sender, FederatedConsensus):
        sent = 8 * int(sender.bytes_up[sender.in_sum].max())
        bits["keys, shares, framing"] = sent - scheme.message_bits
    return bits


def human(bits: int) -> str:
    """Write a size in bytes, kB, MB, GB or TB.

    Examples
    --------
    >>> human(9), human(80_000), human(80_000_000)
    ('2 B', '10.0 kB', '10.0 MB')
    """
    size = ceil(bits / 8)
    power = power_of_1000(size)
    return f"{size} B" if power == 0 else f"{size / 1000**power:.1f} {UNITS[power]}"


def power_of_1000(size: float) -> int:
    """Return the unit of `UNITS` that suits a size in bytes.

    Examples
    --------
    >>> power_of_1000(999), power_of_1000(1000)
    (0, 1)
    """
    return sum(size >= 1000**power for power in range(1, len(UNITS)))


def bins(n: int, phis: float | Iterable[float], *, ax: Axes | None = None) -> Axes:
    """Draw the bins in which the paper's Borda quantizes mean positions to levels.

    Crosses are the centroids: the expected positions of a Mallows model (M4), drawn as places, from
    1. Bars are the bins around them, which meet at the midpoints; the outer bins end at the first
    and last place. A client sends the number of the bin, its level (M6).

    Parameters
    ----------
    n : int
        Number of items.
    phis : float or iterable of float
        Dispersions, in [0, 1).
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of pyplot: see `fedrank.plots`.

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
    >>> len(ax.collections), [text.get_text() for text in ax.get_yticklabels()]
    (3, ['0.1', '0.5', '0.9'])
    """
    count = whole("n", n)
    values = [phis] if isinstance(phis, int | float | np.number) else as_list(phis, "phis")
    if not values:
        raise InputError("must not be empty", parameter="phis", remedy="pass at least one phi")
    models = [Mallows(as_phi(phi), n=count) for phi in values]
    for model in models:
        if model.phi == 1:
            raise InputError(
                "must be below 1, since at 1 all expected positions are the same, not 1",
                parameter="phi",
                value=1.0,
            )
    ax = axes(ax, 8, 1.3 + 0.5 * len(models))
    for row, model in enumerate(models):
        centroids = model.expected_ranks() + 1
        edges = np.concatenate([[1], (centroids[1:] + centroids[:-1]) / 2, [count]])
        shades = [SKY if level % 2 else LIGHT_SKY for level in range(count)]
        bars = list(zip(edges[:-1], np.diff(edges), strict=True))
        ax.broken_barh(bars, (row - 0.4, 0.8), facecolors=shades)
        ax.plot(centroids, [row] * count, "x", color=BLACK, markersize=5 if count <= 60 else 2)
    margin = max(0.5, 0.02 * count)
    ax.set_xlim(1 - margin, count + margin)
    ax.set_ylim(len(models) - 0.4, -0.6)
    ax.set_yticks(range(len(models)), [f"{model.phi:g}" for model in models])
    place_ticks(ax.xaxis, count)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="mean place (1 = best)", ylabel="dispersion phi")
    return ax
