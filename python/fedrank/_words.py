"""Names of columns that mean something: ids, positions, the parts of a long table."""

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

ORDINAL_NUMBERS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
}
ORDINALS = "|".join([*ORDINAL_NUMBERS, "best", "worst", "last", "winner"])
POSITION = re.compile(
    rf"(?:\d+(?:st|nd|rd|th)|{ORDINALS})"
    r"(?:[\s_.-]*(?:place|position|pos|rank|choice|preference|pref))?"
    r"|(?:rank|place|position|pos|choice|preference|pref)[\s_.#-]*\d+",
    re.I | re.A,
)

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


def are_scores(names: Sequence[str]) -> bool:
    """Return whether all names have a word for scores.

    Examples
    --------
    >>> are_scores(["score a", "points_b"]), are_scores(["time", "bob"])
    (True, False)
    """
    words = [{word.lower() for word in TOKENS.findall(name)} for name in names]
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
    words = [word.lower() for word in TOKENS.findall(name)]
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
    words = [word.lower() for word in TOKENS.findall(name)]
    return is_id(name) or (bool(words) and words[-1] in NUMBER_IDS)


def names_ranking(name: str) -> bool:
    """Return whether a column of this name certainly names rankings, and no items.

    Examples
    --------
    >>> names_ranking("patient_no"), names_ranking("id")
    (True, False)
    """
    return any(word.lower() in VOTERS for word in TOKENS.findall(name))


def names_item(name: str) -> bool:
    """Return whether a column of this name contains items.

    Examples
    --------
    >>> names_item("gene"), names_item("movie_id"), names_item("patient")
    (True, True, False)
    """
    return any(word.lower() in ITEM_WORDS for word in TOKENS.findall(name))


def is_position(name: str) -> bool:
    """Return whether a column of this name contains what has one position in each ranking.

    Examples
    --------
    >>> [is_position(name) for name in ("1st", "rank1", "place 2", "first choice", "pos_1")]
    [True, True, True, True, True]
    >>> is_position("ann"), is_position("P1")
    (False, False)
    """
    return POSITION.fullmatch(name.strip()) is not None


def are_positions(names: Sequence[str]) -> bool:
    """Return whether all names are positions; the numbers from 0 or 1 on are, in any order.

    Examples
    --------
    >>> are_positions(["1st", "2nd"]), are_positions(["2", "1"]), are_positions(["3", "1"])
    (True, True, False)
    """
    bare = {name.removeprefix("#").removesuffix(".") for name in names}
    counted = any(
        bare == {str(i + base) for i in range(len(names))} and len(names) > 1 for base in (0, 1)
    )
    return bool(names) and (counted or all(map(is_position, names)))


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
