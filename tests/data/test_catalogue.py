"""The catalogue: complete entries, and real files that are those of the entries."""

import gzip
import hashlib
import re

import pytest

from fedrank import data
from fedrank.data import catalogue, download
from fedrank.data.catalogue import CATALOGUE
from helpers import realdata
from helpers.realdata import DATA


def test_entries_are_complete():
    assert list(CATALOGUE) == [entry.name for entry in catalogue.SETS]
    for entry in CATALOGUE.values():
        assert all((entry.title, entry.citation, entry.licence, entry.note))
        assert entry.home.startswith("https://")
        assert hasattr(data, entry.reading.partition("(")[0])
        for file in entry.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert file.size > 0
            assert all(url.startswith("https://") for url in file.urls)
            assert file.urls or (file.text_only and file.origin)
            named = (file.name, *file.members)
            assert any(name in entry.reading for name in named) or len(entry.files) > 1


def test_stand_ins_say_what_the_paper_had():
    for name, figure in ("luad", "501"), ("lusc", "491"), ("maine", "132,251"):
        assert figure in CATALOGUE[name].note


def read_by_the_catalogue(entry, folder):
    """Run the call that an entry names, in its folder."""
    names = {name: getattr(data, name) for name in data.__all__}
    return eval(re.sub(r"'(\S+?)'", rf"r'{folder}/\1'", entry.reading), names)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "sushi"])
def test_real_files_are_those_of_the_catalogue(name):
    entry = CATALOGUE[name]
    folder = DATA / entry.folder
    for file in entry.files:
        path = folder / file.name
        if not path.exists():
            pytest.skip(f"{entry.folder}/{file.name} is absent: ../shared/data or FEDRANK_DATA")
        opened = gzip.decompress(path.read_bytes()) if file.text_only else path.read_bytes()
        assert (len(opened), hashlib.sha256(opened).hexdigest()) == (file.size, file.sha256)
    assert {str(state) for state in download.states(entry, DATA).values()} == {"verified"}
    assert list(data.fetch(name, DATA)) == [file.name for file in entry.files]  # no network


LONG = {"jester": pytest.mark.slow}  # a quarter of a minute


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG.get(name, ())) for name in CATALOGUE if name != "sushi"]
)
def test_real_files_are_read_by_the_call_of_the_catalogue(name):
    entry = CATALOGUE[name]
    for file in entry.files:
        realdata.need(entry.folder, file.name)
    read = read_by_the_catalogue(entry, DATA / entry.folder)
    assert read.ranks.shape == (entry.rankings, entry.items)
    if name == "jester":
        assert (read.ranks == realdata.jester().ranks).all()


def test_real_sushi_has_the_regions_of_the_paper():
    folder = DATA / "sushi"
    if not (folder / "sushi3-2016.zip").exists():
        pytest.skip("sushi/sushi3-2016.zip is absent: its licence forbids passing it on")
    data.fetch("sushi", DATA)
    parts = read_by_the_catalogue(CATALOGUE["sushi"], folder)
    sizes = [224, 186, 142, 2397, 87, 412, 978, 213, 88, 254]
    assert [len(part) for part in parts.values()] == sizes
