"""The text of a study shows one thing to people and another to programs."""

import json
from contextlib import contextmanager
from unittest import mock

from attacks.outcome import Attack, at
from attacks.parties import study_of
from attacks.runs import removed
from fedrank import Study
from fedrank._json import canonical

SHOWN, CARRIED = 5, 3
STRICT = Study.from_json


@contextmanager
def any_spelling():
    """Read any JSON of a study, as version 1 did."""

    def lenient(text):
        return STRICT(canonical(json.loads(text)))

    with mock.patch.object(Study, "from_json", lenient):
        yield


def spelled(change):
    """Change the text of a study, and read it; returns the threshold that it carries."""

    def play(version1):
        text = change(study_of(5, CARRIED).to_json())
        with removed(version1, any_spelling), at("reading"):
            return Study.from_json(text).threshold

    return play


def twice(text):
    """A field is given twice, and programs take the last one. The check: `without_repeats`."""
    carried = f'"threshold":{CARRIED}'
    return text.replace(carried, f'"threshold":{SHOWN},{carried}')


def escaped(text):
    """The same, with the second name in another spelling. The check: `without_repeats`."""
    carried = f'"threshold":{CARRIED}'
    return text.replace(carried, f'"threshold":{SHOWN},"thr\\u0065shold":{CARRIED}')


def far_away(text):
    """What is carried stands behind spaces, out of sight. The check: `Study.from_json`."""
    carried = f'"threshold":{CARRIED}'
    return text.replace(carried, f"{' ' * 10_000}{carried}")


def row(name, change):
    won, check = "shows another threshold", {"without": any_spelling}
    play = spelled(change)
    return Attack(name, "server", play, CARRIED, won, won, "refused at reading: text", **check)


ATTACKS = (
    row("study with a field given twice", twice),
    row("the same, one name escaped", escaped),
    row("study with a hidden field", far_away),
)
