"""Readers that turn files into `fedrank.Rankings`, and a catalogue of data sets to download.

Reading is declared or certain: a file that can be read in several ways is refused, and the error
lists the options of each way. Readers return `fedrank.Rankings`, or `fedrank.PartialRankings` if
items are tied or not ranked; ``complete=True`` orders these at random, and ``rng=`` makes it
reproducible. The `source` of the result says in one line what was read, left out and completed. An
invalid file raises `fedrank.exceptions.InputError` with the file, the line, the value at fault and
the remedy. `CATALOGUE` lists the data sets of the paper, and `fetch` downloads them.
"""

from fedrank.data._options import check_reading
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
    "check_reading",
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
