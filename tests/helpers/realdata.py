"""The real data: where FEDRANK_DATA points, or beside the project, in ../shared/data.

Jester is read here by a second reader, which is also several times faster than the project's own;
tests/data/test_catalogue.py compares the two.
"""

import io
import os
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import python_calamine

from fedrank import Rankings, data
from helpers.paths import TESTS

DATA = Path(os.environ.get("FEDRANK_DATA") or TESTS.parents[1] / "shared" / "data")


def need(*names):
    """Path of a file among the real data; without it the test is skipped."""
    path = DATA.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is absent: ../shared/data, or where FEDRANK_DATA points")
    return path


@cache
def jester_ratings(part):
    """Ratings of 100 jokes by those who rated all of them, from file 1 or 2."""
    with zipfile.ZipFile(need("jester", f"jester_dataset_1_{part}.zip")) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".xls"))
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(archive.read(name)))
    rows = book.get_sheet_by_index(0).to_python()
    return np.array([row[1:] for row in rows if row[0] == 100], dtype=float)


@cache
def jester():
    """Rankings of 100 jokes by 14,116 raters, ties by joke number."""
    return Rankings.from_scores(np.vstack([jester_ratings(1), jester_ratings(2)]), ties="index")


@cache
def luad():
    """Rankings of 978 genes by their expression in 533 tumours."""
    return data.read_expression(need("tcga", "LUAD_fpkm_landmark978.tsv.gz"))


@cache
def lusc():
    """Rankings of 926 genes by their expression in 35 tumours."""
    return data.read_expression(need("tcga", "LUSC_rsem_landmark926_35tumours.tsv.gz"))


@cache
def maine():
    """Ballots of the governor's primary, completed at random."""
    name = "Maine_06122018_DemocraticPrimaryforGovernor.csv"
    return data.read_ballots(need("maine", name), complete=True, rng=0)
