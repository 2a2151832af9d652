"""Where the real data are: where FEDRANK_DATA points, or beside the project, in ../shared/data."""

import os
from functools import cache
from pathlib import Path

import pytest

from fedrank import data
from helpers.paths import TESTS

DATA = Path(os.environ.get("FEDRANK_DATA") or TESTS.parents[1] / "shared" / "data")


def need(*names):
    """Path of a file among the real data; without it the test is skipped."""
    path = DATA.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is absent: ../shared/data, or where FEDRANK_DATA points")
    return path


@cache
def jester():
    """Rankings of 100 jokes by 14,116 raters."""
    return data.read_jester([need("jester", f"jester_dataset_1_{i}.zip") for i in (1, 2)])


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
