"""A consensus as a compact HTML table, for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from fedrank._text import noun, printable
from fedrank.consensus.tables import columns
from fedrank.consensus.ties import chance

if TYPE_CHECKING:
    from fedrank.consensus.result import Consensus

MAX_ROWS = 20  # of each table


def as_html(consensus: "Consensus", more: Sequence[str] = (), after: str = "") -> str:
    """Return the best items in a table, with the ties and more lines above it, and HTML after it.

    Examples
    --------
    >>> from fedrank import Rankings, aggregate
    >>> "a&lt;b" in as_html(aggregate(Rankings([[0, 1]], items=["a<b", "c"])))
    True
    """
    found = islice(zip(*columns(consensus), strict=True), MAX_ROWS)
    scored = consensus.scores is not None
    rows = [
        [place, label, *([f"{score:.4g}"] if scored else []), "" if tied is None else tied]
        for place, label, score, tied in found
    ]
    title = f"{consensus.method}, {len(consensus):,} {noun(len(consensus), 'item')}"
    lines = [f"<p>{text(title)}</p>"]
    lines += [f"<p>{text(line)}</p>" for line in consensus._say_source()]
    lines += [f"<p><b>{text(sentence)}</b></p>" for sentence in chance(consensus, MAX_ROWS)]
    lines += [f"<p>{text(line)}</p>" for line in more]
    head = ["place", "item", *(["score"] if scored else []), "tie"]
    return f"<div>{''.join(lines)}{table(head, rows, len(consensus))}{after}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> str:
    """Return a table of at most `MAX_ROWS` rows, and how many more there are."""
    shown = list(rows)[:MAX_ROWS]
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in shown)
    if total > len(shown):
        body += f'<tr><td>…</td><td colspan="{len(head) - 1}">{total - len(shown):,} more</td></tr>'
    names = "".join(f"<th>{text(name)}</th>" for name in head)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def text(value: object) -> str:
    """Return a value as text that cannot be taken for markup."""
    return escape(printable(value))
