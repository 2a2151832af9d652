"""How results call the clients: by name or by number."""

from typing import TypeAlias

from fedrank.protocol.study import Study

Client: TypeAlias = int | str
"""A client in a result: its name, or its number if the study's roster has no names."""


def client_ids(study: Study) -> tuple[Client, ...]:
    """Say how results call the clients: by name, or by number if the study was given no names.

    Examples
    --------
    >>> from fedrank import Borda
    >>> client_ids(Study(Borda(2, 3))), client_ids(Study(Borda(2, 2), roster=["north", "east"]))
    ((0, 1, 2), ('north', 'east'))
    """
    return study.roster if study.named else tuple(range(len(study.roster)))
