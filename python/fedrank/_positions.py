"""Names of columns that are positions, such as "2nd": they decide where the best item is."""

import re
from collections.abc import Sequence

from fedrank._words import word_set, words_of

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

CHOICE = re.compile(
    r"\b(\d+)(?:st|nd|rd|th)\s+choice\b|^(?:rank|choice)\s*_?(\d+)(?:\s*\((.*)\))?$", re.I | re.A
)
"""Names of columns that contain the choices of ballots; other words may stand before them."""

RUNNER_UP = re.compile(r"\brunner[\s_-]*up\b", re.I)

TOP = word_set("best top winner favourite favorite highest most")
"""Words for the first position."""

UNCLEAR = word_set("last worst bottom mid middle lowest least final")
"""Words for a position that has no number."""

SUFFIXES = word_set("st nd rd th")


def is_position(name: str) -> bool:
    """Return whether a column of this name contains what has one position in each ranking.

    Examples
    --------
    >>> [is_position(name) for name in ("1st", "rank1", "place 2", "first choice", "pos_1")]
    [True, True, True, True, True]
    >>> is_position("ann"), is_position("P1")
    (False, False)
    """
    name = name.strip()
    return POSITION.fullmatch(name) is not None or choice_number(name) is not None


def choice_number(name: str) -> int | None:
    """Return which choice of ballots a column of this name contains; None if it contains none.

    Examples
    --------
    >>> [choice_number(name) for name in ("DEM Governor 1st Choice", "rank_2", "2nd", "ann")]
    [1, 2, None, None]
    """
    match = CHOICE.search(name)
    return int(match[1] or match[2]) if match else None


def position_words(name: str) -> list[str]:
    """Return the words of a name, of which "runner-up" is one for the second position.

    Examples
    --------
    >>> position_words("Runner-up"), position_words("top1")
    (['second'], ['top', '1'])
    """
    return words_of(RUNNER_UP.sub("second", name))


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


def position_number(name: str) -> int | None:
    """Return the number of the position that a name contains; None if there is not just one.

    Examples
    --------
    >>> [position_number(name) for name in ("3rd", "Place 2", "first choice", "#4", "Top choice")]
    [3, 2, 1, 4, 1]
    >>> position_number("last choice"), position_number("2nd or 3rd"), position_number("ann")
    (None, None, None)
    """
    words = position_words(name)
    numbers = [int(word) for word in words if word.isdecimal()]
    numbers += [ORDINAL_NUMBERS[word] for word in words if word in ORDINAL_NUMBERS]
    if not numbers and any(word in TOP for word in words):
        return 1
    return numbers[0] if len(numbers) == 1 else None


def is_unclear(name: str) -> bool:
    """Return whether a name is that of a position that has no number.

    Examples
    --------
    >>> is_unclear("Last choice"), is_unclear("mid"), is_unclear("last 3"), is_unclear("ann")
    (True, True, False, False)
    """
    return position_number(name) is None and any(word in UNCLEAR for word in position_words(name))


def are_directions(names: Sequence[str]) -> bool:
    """Return whether all names begin with a word for a position.

    Examples
    --------
    >>> are_directions(["bottom", "mid", "top"]), are_directions(["top", "ann"])
    (True, False)
    """
    firsts = [position_words(name)[:1] for name in names]
    known = TOP | UNCLEAR | ORDINAL_NUMBERS.keys()
    return bool(names) and all(bool(first) and first[0] in known for first in firsts)


def positions_of(names: Sequence[str]) -> list[int] | str | None:
    """Return the position of each column, or what is wrong with them; None if they name none.

    Examples
    --------
    >>> positions_of(["3rd", "1st", "2nd"]), positions_of(["x", "y"])
    ([3, 1, 2], None)
    >>> positions_of(["1st", "1st"])
    'position 1 is named twice'
    """
    numbers = [position_number(name) for name in names]
    unclear = [name for name in names if is_unclear(name)]
    if unclear and (are_directions(names) or any(map(is_position, names))):
        return f"{unclear[0]!r} is a position without a number"
    found = [number for number in numbers if number is not None]
    if len(found) < len(names):
        return None
    for base in (0, 1):
        if sorted(found) == list(range(base, base + len(found))):
            return found
    around = {
        tuple(
            word
            for word in words_of(name)
            if not word.isdecimal() and word not in SUFFIXES | ORDINAL_NUMBERS.keys()
        )
        for name in names
    }
    if len(around) > 1 and not all(map(is_position, names)):
        return None  # names of another kind, which contain numbers
    for number in found:
        if found.count(number) > 1:
            return f"position {number} is named twice"
    missing = min(set(range(1, max(found) + 1)) - set(found), default=1)
    return f"position {missing} is missing"
