"""Gene expression, genes in rows or in columns."""

import gzip
import tracemalloc

import numpy as np
import pytest

import fedrank as fr
from fedrank import data
from helpers.paths import SAMPLES
from helpers.realdata import need


def test_expression_either_way():
    by_sample = data.read_expression(SAMPLES / "expression.tsv")
    by_gene = data.read_expression(SAMPLES / "expression_by_gene.csv.gz")
    assert by_sample.items == by_gene.items == ("TP53", "EGFR", "MYC")
    assert by_sample.ranks.tolist() == by_gene.ranks.tolist() == [[0, 2, 1], [1, 0, 2]]


def test_expression_gene_list_from_a_file(write):
    genes = write("genes.txt", "Entrez\tSymbol\n1\tMYC\n2\tTP53\n")
    plain = write("plain.txt", "MYC\nTP53\n")
    for name in "expression.tsv", "expression_by_gene.csv.gz":
        for listed in genes, plain, ["MYC", "TP53"]:
            votes = data.read_expression(SAMPLES / name, genes=listed)
            assert (votes.items, votes.ranks.tolist()) == (("MYC", "TP53"), [[1, 0], [1, 0]])


def test_expression_as_r_writes_it(write):
    path = write("r.csv", '"s1","s2"\n"A",1,2\n"B",3,1\n')
    assert data.read_expression(path, genes_in="rows").ranks.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("id,A,B\ns,1,2\n", {}, "pass genes_in="),
        ("sample,A,B\ns,1,NA\n", {}, "line 2: 'NA' is not a number"),
        ("sample,A,B\ns,1,\n", {}, "line 2: an empty cell is not a number"),
        ("sample,A,B\ns,1,inf\n", {}, "line 2: 'inf' is not a number"),
        ("sample,A,B\ns,1,2\nt,1\n", {}, "line 3: the row has 2 columns, not 3"),
        ("sample,A,A\ns,1,2\n", {}, "gene 'A' occurs twice"),
        ("sample,A,B\ns,1,2\n", {"genes": ["A", "C"]}, "1 of 2 genes are not .* 'C' first"),
        ("sample,A,B\ns,1,2\n", {"genes": ["C"]}, "0 of the genes"),
        ("sample,A,B\n", {}, "a column of names, and values"),
        ("sample,A,B\ns,1,1\n", {"ties": "error"}, r"e\.csv, row 0: .*tie"),
    ],
)
def test_expression_broken(write, text, options, problem):
    with pytest.raises(ValueError, match=problem):
        data.read_expression(write("e.csv", text), **options)


def test_truncated_gzip_is_refused(write):
    whole = (SAMPLES / "expression_by_gene.csv.gz").read_bytes()
    with pytest.raises(ValueError, match=r"e\.csv\.gz: the gzip stream is broken"):
        data.read_expression(write("e.csv.gz", whole[:-12]))


def scores_text(rows, columns):
    rng = np.random.default_rng(0)
    head = "sample\t" + "\t".join(f"g{i}" for i in range(columns)) + "\n"
    body = ("\t".join(map(repr, rng.random(columns).tolist())) for _ in range(rows))
    return head + "".join(f"s{i}\t{row}\n" for i, row in enumerate(body))


@pytest.mark.parametrize("rows", [500, pytest.param(1600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["e.tsv", "e.tsv.gz"])
def test_memory_does_not_grow_with_the_file(write, name, rows):
    text = scores_text(rows, 1000).encode()
    size = len(text)
    path = write(name, gzip.compress(text, 1) if name.endswith(".gz") else text)
    del text
    data.read_expression(SAMPLES / "expression.tsv")  # what is loaded once
    tracemalloc.start()
    try:
        votes = data.read_expression(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert votes.ranks.shape == (rows, 1000)
    assert peak - votes.ranks.nbytes < 5e6
    assert size > 19_000 * rows  # 9 MB, or 30 MB


def test_blank_rows_are_counted(write):
    votes = data.read_expression(write("t.csv", "gene,s\nA,1\n,\n\nB,2\n"))
    assert (votes.items, votes.ranks.tolist()) == (("A", "B"), [[1, 0]])
    assert str(votes.source).endswith("(expression, highest best; 1 blank row left out)")


@pytest.mark.parametrize("listed", [False, True])
def test_real_luad(listed):
    genes = need("tcga", "landmark_genes.txt") if listed else None
    votes = data.read_expression(need("tcga", "LUAD_fpkm_landmark978.tsv.gz"), genes=genes)
    assert votes.ranks.shape == (533, 978)
    score = fr.kemeny_score(fr.aggregate(votes, rng=0), votes)
    assert score == pytest.approx(69.1667, abs=1e-4 if listed else 5e-5)  # ties go by gene order


def test_real_lusc():
    votes = data.read(need("tcga", "LUSC_rsem_landmark926_35tumours.tsv.gz"), layout="expression")
    assert votes.ranks.shape == (35, 926)
    assert np.unique(votes.ranks[0]).size == 926
