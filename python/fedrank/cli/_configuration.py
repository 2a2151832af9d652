"""The configuration file that ``fedrank agent new`` writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedrank.agent.policy import Policy, as_toml, quoted
from fedrank.protocol.study import Study


def configuration(
    study: Study, name: str, rankings: Path, key: Path | None, reading: Mapping[str, Any]
) -> str:
    """Write the configuration of an agent, with a line about every key.

    Examples
    --------
    >>> from fedrank import Borda
    >>> study = Study(Borda(n=3, clients=3), roster=["north", "east", "south"])
    >>> print(configuration(study, "east", Path("/srv/r.csv"), None, {}).splitlines()[2])
    name = "east"
    """
    policy = Policy((study.digest,), allow_unsigned=not study.signed)
    own = "" if key is None else KEY.format(key=quoted(str(key.resolve())))
    text = TEMPLATE.format(
        name=quoted(name),
        key=own,
        folder='folder = "state"' if key is None else '# folder = "…"',
        default="" if key is None else "; by default where the key's identity has it",
        rankings=quoted(str(rankings.resolve())),
        digest=study.digest,
        unsigned=str(policy.allow_unsigned).lower(),
        policy=policy,
        threshold=study.threshold,
    )
    options = f"{as_toml(reading, separator=chr(10))}\n" if reading else ""
    return text + options


KEY = """
# The private key of your identity, by which rosters know you.
key = {key}
"""

TEMPLATE = """\
# What an agent of fedrank answers. It is read when the agent starts: restart it after a change.
# Your name in rosters that have no identities.
name = {name}
{key}
# The file of your rankings.
rankings = {rankings}

# Keys, messages, ledger and log, for nobody else to read{default}.
{folder}

# Where the agent listens.
socket = "agent.sock"

# Breaks ties in your own message, for reproducible trials; by default they are broken by lot.
# seed = 1

[policy]
# Digests of the studies that are answered, beside those of 'fedrank agent allow'.
studies = ["{digest}"]

# Whether studies without identities are answered. In one, the server could play all other clients.
allow_unsigned = {unsigned}

# Fewest clients that a study may have.
min_clients = {policy.min_clients}

# Lowest threshold that a study may have: so many clients must stay for a sum to be opened.
min_threshold = {threshold}

# Fewest clients in a sum that you help to open.
min_survivors = {policy.min_survivors}

# Fewest rankings of yours that are enough to answer with.
min_samples = {policy.min_samples}

# Most runs of a study in any 24 hours that get your masked message, beside the first that opens
# a sum.
runs_per_day = {policy.runs_per_day}

[reading]
# How the file of rankings is read, where the file alone does not show it.
"""
