"""Names of columns that mean something: ids, scores, the parts of a long table."""

import re
from collections.abc import Sequence


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    Examples
    --------
    >>> sorted(word_set("b a"))
    ['a', 'b']
    """
    return frozenset(text.split())


IDS = word_set(
    "id ids uid uuid guid pid index idx no nr num number row key voter user patient sample "
    "respondent participant subject person case ballot name names weight weights count counts "
    "record customer judge rater #"
)
"""Names of columns that number or name the rows."""

ID_ENDS = word_set("id ids uid index idx no nr num number key name weight count #")
"""Last words of such names: voter id, patient number."""

NUMBER_IDS = word_set(
    "gene symbol entrez ensembl refseq uniprot probe accession mrn ssn isbn issn ean sku barcode "
    "code zip zipcode postcode phone account ticket year month day date timestamp"
)
"""Names of columns that number or name the rows if they contain numbers."""

VOTERS = word_set(
    "voter user patient sample respondent participant subject person case ballot customer judge "
    "rater reviewer expert mrn ssn"
)
"""Words that name rankings, and no items."""

TOKENS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|#|[^\W\d_]+")

RANKING_WORDS = IDS | word_set("ranking list region group who reviewer expert")
ITEM_WORDS = word_set(
    "item items candidate gene product option movie film alternative label title joke song symbol "
    "probe entrez ensembl refseq uniprot isbn sku"
)
RANK_WORDS = word_set("rank ranks position positions pos place places placement standing")
VALUE_WORDS = RANK_WORDS | word_set(
    "score rating value stars points level grade p pvalue p-value time"
)
"""Names of the columns of a long table; below a rank word, the lowest number is best."""

SCORE_WORDS = word_set(
    "score scores rating ratings star stars point points mark marks grade grades value values "
    "pvalue time times seconds"
)
"""Words in names of columns whose numbers may be scores, although each row counts from 1."""


def words_of(name: str) -> list[str]:
    """Return the words, numbers and signs of a name.

    Examples
    --------
    >>> words_of("2nd_Choice")
    ['2', 'nd', 'choice']
    """
    return [word.lower() for word in TOKENS.findall(name)]


def are_scores(names: Sequence[str]) -> bool:
    """Return whether all names have a word for scores.

    Examples
    --------
    >>> are_scores(["score a", "points_b"]), are_scores(["time", "bob"])
    (True, False)
    """
    words = [set(words_of(name)) for name in names]
    return bool(words) and all(each & SCORE_WORDS for each in words)


def is_id(name: str) -> bool:
    """Return whether a column of this name may number or name the rows.

    Examples
    --------
    >>> [is_id(name) for name in ("id", "PatientID", "voter_id", "userid", "#", "Case No")]
    [True, True, True, True, True, True]
    >>> [is_id(name) for name in ("ann", "P1", "sample 7", "ID2", "idaho", "Nora")]
    [False, False, False, False, False, False]
    """
    words = words_of(name)
    if not words:
        return False
    if len(words) > 1:
        return words[-1] in ID_ENDS or (words[0] in ("id", "#") and not words[1].isdigit())
    return words[0] in IDS or (words[0].endswith("id") and words[0][:-2] in IDS)


def is_number_id(name: str) -> bool:
    """Return whether a column of numbers of this name may number or name the rows.

    Examples
    --------
    >>> [is_number_id(name) for name in ("id", "entrez", "Entrez gene", "zip code", "birth_year")]
    [True, True, True, True, True]
    >>> [is_number_id(name) for name in ("ann", "gene 7", "Yearling")]
    [False, False, False]
    """
    words = words_of(name)
    return is_id(name) or (bool(words) and words[-1] in NUMBER_IDS)


def names_ranking(name: str) -> bool:
    """Return whether a column of this name certainly names rankings, and no items.

    Examples
    --------
    >>> names_ranking("patient_no"), names_ranking("id")
    (True, False)
    """
    return any(word in VOTERS for word in words_of(name))


def names_item(name: str) -> bool:
    """Return whether a column of this name contains items.

    Examples
    --------
    >>> names_item("gene"), names_item("movie_id"), names_item("patient")
    (True, True, False)
    """
    return any(word in ITEM_WORDS for word in words_of(name))


def names_ranks(name: str) -> bool:
    """Return whether a column of this name contains ranks, the lowest best.

    Examples
    --------
    >>> names_ranks("Final place"), names_ranks("votes"), names_ranks("rank points")
    (True, False, False)
    """
    words = set(words_of(name))
    return bool(words & RANK_WORDS) and not words & SCORE_WORDS


def are_long(names: Sequence[str]) -> bool:
    """Return whether the names of three columns are those of a long table.

    Examples
    --------
    >>> are_long(["voter", "item", "rank"]), are_long(["ann", "bob", "cy"])
    (True, False)
    """
    words = [name.lower() for name in names]
    kinds = (RANKING_WORDS, ITEM_WORDS, VALUE_WORDS)
    return len(names) == 3 and sum(any(word in kind for word in words) for kind in kinds) > 1
