"""All attacks, and the table of what comes of each."""

from attacks import (
    backups,
    downgrade,
    host,
    impersonation,
    late,
    lists,
    neighbours,
    replay,
    runs,
    text,
)

FAMILIES = (
    impersonation,
    lists,
    late,
    replay,
    host,
    downgrade,
    runs,
    backups,
    text,
    neighbours,
)
ATTACKS = tuple(attack for family in FAMILIES for attack in family.ATTACKS)
HEAD = ("attack", "who attacks", "version 1's rules", "today")


def row(attack):
    """Play one attack; returns its row, and whether all came as expected."""
    before, today = attack.outcome(version1=True), attack.outcome(version1=False)
    expected = (before, today) == (attack.before, attack.today)
    return (attack.name, attack.who, before, today), expected


def printed(rows):
    """Rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        yield "  ".join(padded).rstrip()


def main():
    """Play all attacks, and print what came of them; returns 1 if anything was not expected."""
    rows, unexpected = [HEAD], []
    for attack in ATTACKS:
        cells, expected = row(attack)
        rows.append(cells)
        if not expected:
            unexpected.append(
                f"{attack.name} ({attack.who}): expected {attack.before!r}, then {attack.today!r}"
            )
    print(*printed(rows), *unexpected, sep="\n")
    return 1 if unexpected else 0
