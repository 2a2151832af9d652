"""Readers: files on a disk in, `fedrank.Rankings` out; and a catalogue of files to fetch.

Every reader returns complete rankings. Where a file leaves ties or gaps, the reader's
docstring states the rule that fills them, and ``rng=`` makes it repeatable; with
``complete=False`` PrefLib and ballots keep them, as `fedrank.PartialRankings`. A bad file is a
ValueError that names the file, the line, the value at fault and the mend. `CATALOGUE` tells
of the paper's data sets, and `fetch` gets them.
"""

from fedrank.data.auto import read
from fedrank.data.ballots import read_ballots
from fedrank.data.catalogue import CATALOGUE, DataSet, File
from fedrank.data.download import data_folder, fetch
from fedrank.data.expression import read_expression
from fedrank.data.groups import read_groups
from fedrank.data.jester import read_jester
from fedrank.data.preflib import read_preflib
from fedrank.data.sushi import read_sushi
from fedrank.data.tables import read_table

__all__ = [
    "CATALOGUE",
    "DataSet",
    "File",
    "data_folder",
    "fetch",
    "read",
    "read_ballots",
    "read_expression",
    "read_groups",
    "read_jester",
    "read_preflib",
    "read_sushi",
    "read_table",
]
