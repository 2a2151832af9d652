"""Whether the labels of a data holder's rankings are those of a study."""

from fedrank._validation import few
from fedrank.exceptions import InputError
from fedrank.protocol.study import Study
from fedrank.rankings.partial import AnyRankings


def check_labels(rankings: AnyRankings, study: Study) -> None:
    """Refuse rankings of other items than the study's, whatever their order.

    Raises
    ------
    InputError
        Which names the labels that only one of the two has.

    Examples
    --------
    >>> from fedrank import Borda, Rankings
    >>> study = Study(Borda(n=2, clients=3), ["KRAS", "TP53"])
    >>> check_labels(Rankings([[0, 1]], items=["TP53", "KRAS"]), study)
    >>> try:
    ...     check_labels(Rankings([[0, 1]], items=["TP53", "BRAF"]), study)
    ... except InputError as error:
    ...     print(error)
    the study has KRAS, the file has not; the file has BRAF, the study has not
    """
    given = list(rankings.items)
    if study.items is None:
        if [str(label) for label in given] != [str(item) for item in range(rankings.n)]:
            raise InputError(
                "the rankings have labels, but the study has none",
                remedy="agree on a study with the labels of all items",
            )
        if rankings.n != study.method.n:
            raise InputError(f"the study has {study.method.n} items, and the file has {rankings.n}")
        return
    missing = [label for label in study.items if label not in {*given}]
    extra = [label for label in given if label not in {*study.items}]
    parts = []
    if missing:
        parts.append(f"the study has {few(missing)}, the file has not")
    if extra:
        parts.append(f"the file has {few(extra)}, the study has not")
    if parts:
        raise InputError("; ".join(parts))
