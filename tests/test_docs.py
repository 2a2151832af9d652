"""The notebook is its page, and runs; the checks of the site find what they should."""

import importlib.util
import inspect
import zlib

import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np
import pytest

import fedrank
from helpers.paths import TESTS

DOCS = TESTS.parent / "docs"
GENES = DOCS / "tutorials" / "genes.ipynb"
PAGE = GENES.with_suffix(".md").read_text(encoding="utf-8")


def program(name):
    """Load one of the programs in docs, which are no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(notebook):
    """The values that the cells of a notebook show."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    values = [output["data"]["text/plain"] for output in outputs if "execution_count" in output]
    return ["".join(value) for value in values]


def test_the_notebook_is_made_from_its_page():
    assert GENES.read_text(encoding="utf-8") == program("notebook").notebook(PAGE)


@pytest.mark.filterwarnings("ignore::Warning")  # of the kernel's machinery, not ours
def test_the_notebook_runs_and_shows_what_it_says(tmp_path):
    notebook = nbformat.read(GENES, as_version=4)
    nbformat.validate(notebook)
    said = texts(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    assert texts(notebook) == said
    assert len(said) > 5
    shown = [output for output in notebook["cells"][-2]["outputs"] if "image/png" in output["data"]]
    assert len(shown) == 1


def blocks(picture):
    """Mean brightness of squares of 40 pixels: versions of matplotlib set letters differently."""
    pixels = plt.imread(picture)[..., :3].mean(axis=2)
    height, width = pixels.shape
    return pixels.reshape(height // 40, 40, width // 40, 40).mean(axis=(1, 3))


def test_the_picture_is_the_one_that_the_page_draws(tmp_path, monkeypatch):
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    program("notebook").draw(PAGE)
    shipped, drawn = blocks(GENES.with_suffix(".png")), blocks("genes.png")
    assert shipped.std() > 0.1
    np.testing.assert_allclose(drawn, shipped, atol=0.1)


def test_broken_links_and_foreign_files_are_found(tmp_path):
    check = program("check")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text('<h1 id="there">b</h1><a href="../a.html">a</a>')
    good = '<a href="sub/b.html#there">b</a> <a href="https://example.org">far</a>'
    (tmp_path / "a.html").write_text(good)
    assert check.broken_links(tmp_path) == []
    bad = (
        '<a href="c.html">c</a> <a href="sub/b.html#gone">b</a> <script src="//cdn/x.js"></script>'
    )
    (tmp_path / "a.html").write_text(bad)
    assert check.broken_links(tmp_path) == [
        "a.html loads //cdn/x.js",
        "a.html links to c.html, which is not there",
        "a.html links to sub/b.html#gone, and there is no such heading",
    ]


MODULES = [name for name in fedrank.__all__ if inspect.ismodule(getattr(fedrank, name))]


def test_public_names_without_an_entry_are_found(tmp_path):
    check = program("check")
    names = [f"fedrank.{name}" for name in fedrank.__all__ if name != "aggregate"]
    names += [getattr(fedrank, name).__name__ for name in MODULES]
    names.append("fedrank.protocol.secagg.Client")
    lines = [f"{name} py:function 1 a.html#$ -\n" for name in names]
    documented = ("fedrank.protocol.secagg", "fedrank.distances")
    lines += [f"{name} py:module 0 a.html -\n" for name in documented]
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib\n"
    (tmp_path / "objects.inv").write_bytes(head + zlib.compress("".join(lines).encode()))
    lacking = [name for name in fedrank.secagg.__all__ if name != "Client"]
    assert check.undocumented(tmp_path) == [
        "the reference lacks fedrank.aggregate",
        *(f"the reference lacks fedrank.protocol.secagg.{name}" for name in lacking),
        "fedrank.distances has no __all__, so nobody can tell what is public in it",
    ]
