"""Encodings, line ends, compression, pipes and blocks, whatever the layout."""

import gzip
import io
import os
import re
import threading
from types import SimpleNamespace

import pytest

from fedrank import _progress, data
from fedrank.data import _blocks, _text
from helpers.paths import SAMPLES
from helpers.samples import sample


def test_utf_16_with_its_mark_is_read(write):
    path = write("t.csv", "zoë\tbob\n0\t1\n".encode("utf-16"))
    assert data.read(path).items == ("zoë", "bob")


OPTIONS = {
    "expression.tsv": {"layout": "expression"},
    "expression_by_gene.csv.gz": {"layout": "expression"},
    "scores.tsv": {"best": "high"},
}
"""What must be said of samples that are not certain."""


def read(path, name):
    """Read a variant of a sample."""
    return data.read(path, complete=True, rng=1, **OPTIONS.get(name, {}))


TEXTS = [
    "small.soc",
    "old.soc",
    "old.toc",
    "small.toi",
    "latin1.soi",
    "sushi.order",
    "cvr.csv",
    "profile.csv",
    "expression.tsv",
    "expression_by_gene.csv.gz",
    "ranks.csv",
    "orders.csv",
    "scores.tsv",
]


@pytest.mark.parametrize("name", TEXTS)
def test_text_may_be_gzipped_or_have_other_line_ends_or_a_mark(write, name):
    whole = read(SAMPLES / name, name)
    plain, sampled = sample(name), name
    name = name.removesuffix(".gz")
    variants = {
        name: plain.replace(b"\n", b"\r\n"),
        f"r.{name}": plain.replace(b"\n", b"\r"),
        f"{name}.gz": gzip.compress(plain[:50]) + gzip.compress(plain[50:]),  # two members
    }
    if name != "latin1.soi":
        variants[f"mark.{name}"] = b"\xef\xbb\xbf" + plain
        variants[f"wide.{name}"] = plain.decode().encode("utf-16")
    for variant, content in variants.items():
        assert read(write(variant, content), sampled) == whole


@pytest.mark.parametrize("name", TEXTS)
def test_bad_encodings(write, name):
    plain = sample(name)
    name = name.removesuffix(".gz")
    with pytest.raises(ValueError, match=f"{name}: this is not a text file"):
        data.read(write(name, plain + b"\0"))
    with pytest.raises(ValueError, match=f"{name}: this is not a text file"):
        data.read(write(name, "a\0b".encode("utf-16")))
    with pytest.raises(ValueError, match=name):
        data.read(write(name, plain.decode("latin-1").encode("utf-16-le")))  # without its mark


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("small.soc", b"Ann", b"Zo\xeb"),
        ("cvr.csv", b"Ann", b"Zo\xeb"),
        ("profile.csv", b"Ann", b"Zo\xeb"),
        ("expression.tsv", b"EGFR", b"Zo\xeb"),
        ("ranks.csv", b"ann", b"Zo\xeb"),
        ("orders.csv", b"ann", b"Zo\xeb"),
        ("scores.tsv", b"ann", b"Zo\xeb"),
    ],
)
def test_names_that_are_not_utf_8_are_latin_1(write, name, old, new):
    assert "Zoë" in read(write(name, sample(name).replace(old, new)), name).items


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("name", TEXTS)
def test_blocks_of_any_size_give_the_same(monkeypatch, write, name, size):
    whole = read(SAMPLES / name, name)
    wide = None if name == "latin1.soi" else sample(name).decode().encode("utf-16")
    monkeypatch.setattr(_text, "BLOCK_BYTES", size)
    assert read(SAMPLES / name, name) == whole
    if wide is not None:
        assert read(write(name.removesuffix(".gz"), wide), name) == whole


def test_a_gzip_cut_anywhere_is_refused(write):
    whole = gzip.compress(sample("small.soc"))
    for end in range(2, len(whole)):
        with pytest.raises(ValueError, match="gzip stream is broken or cut short"):
            data.read(write("a.soc.gz", whole[:end]))


def test_rows_are_named_by_their_lines_in_every_block(monkeypatch, write):
    monkeypatch.setattr(_blocks, "BLOCK_CELLS", 4)
    good = "a,b\n" + "0,1\n" * 9
    with pytest.raises(ValueError, match=r"line 11: 0\.3 is not a rank"):
        data.read_table(write("t.csv", good + "1,0.3\n"), layout="ranks")
    with pytest.raises(ValueError, match="line 11: the order names 'a' more than once"):
        data.read_table(write("t.csv", "1st,2nd\n" + "a,b\n" * 9 + "a,a\n"))
    text = "sample,A,B\n" + "s,1,2\n" * 9 + "s,1,1\n"
    with pytest.raises(ValueError, match=r"e\.csv, row 9"):
        data.read_expression(write("e.csv", text), ties="error")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["ranks.csv", "expression_by_gene.csv.gz", "cvr.xlsx", "old.toc"])
def test_a_pipe_of_any_layout_is_read_whole(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(sample(name),))
    writer.start()
    assert read(path, name) == read(SAMPLES / name, name)
    writer.join()
    assert path.is_fifo()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_called_by_its_own_name(tmp_path):
    path = tmp_path / "votes.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("a,b\n0,1\n0,x\n",))
    writer.start()
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}, line 3: 'x' is not a number"):
        data.read(path)
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe.soc"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(sample("small.soc"),))
    writer.start()
    votes = data.read_preflib(path)
    writer.join()
    assert votes == data.read_preflib(SAMPLES / "small.soc")


def test_a_long_read_shows_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(_progress, "REDRAW_SECONDS", -1.0)
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=shown))
    data.read_preflib(SAMPLES / "small.soc")
    assert shown.getvalue() == ""  # nobody asked
    data.read(SAMPLES / "small.soc", progress=True)
    assert "reading small.soc" in shown.getvalue()
    assert "100 %" in shown.getvalue()
