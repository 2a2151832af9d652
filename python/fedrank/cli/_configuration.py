"""The configuration file that ``fedrank agent new`` writes."""

from fedrank.agent.policy import Config, as_toml, quoted


def configuration(config: Config) -> str:
    """Write the configuration of an agent, with a line about every key.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fedrank.agent import Policy
    >>> config = Config("east", Path("/srv/r.csv"), Path("state"), Path("a.sock"), Policy())
    >>> print(configuration(config).splitlines()[2])
    name = "east"
    """
    policy, key, reading = config.policy, config.key, config.reading
    own = "" if key is None else KEY.format(key=quoted(str(key.resolve())))
    text = TEMPLATE.format(
        name=quoted(config.name),
        key=own,
        folder='folder = "state"' if key is None else '# folder = "…"',
        default="" if key is None else "; by default where the key's identity has it",
        rankings=quoted(str(config.rankings.resolve())),
        studies=", ".join(map(quoted, policy.studies)),
        unsigned=str(policy.allow_unsigned).lower(),
        policy=policy,
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
studies = [{studies}]

# Whether studies without identities are answered. In one, the server could play all other clients.
allow_unsigned = {unsigned}

# Fewest clients that a study may have.
min_clients = {policy.min_clients}

# Lowest threshold that a study may have: so many clients must stay for a sum to be opened.
min_threshold = {policy.min_threshold}

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
