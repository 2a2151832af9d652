"""Readers: files on a disk in, `fedrank.Rankings` out.

Every reader returns complete rankings. Where a file leaves ties or gaps, the reader's
docstring states the rule that fills them, and ``rng=`` makes it repeatable. A bad file is a
ValueError that names the file, the line, the value at fault and the mend.
"""

from fedrank.data.auto import read
from fedrank.data.ballots import read_ballots
from fedrank.data.expression import read_expression
from fedrank.data.groups import read_groups
from fedrank.data.jester import read_jester
from fedrank.data.preflib import read_preflib
from fedrank.data.sushi import read_sushi
from fedrank.data.tables import read_table

__all__ = [
    "read",
    "read_ballots",
    "read_expression",
    "read_groups",
    "read_jester",
    "read_preflib",
    "read_sushi",
    "read_table",
]
