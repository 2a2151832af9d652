"""The sample files, and what their rankings say."""

import gzip

from helpers.paths import SAMPLES


def labelled(rankings):
    """Labels of each ranking, best first."""
    return [[rankings.items[i] for i in order] for order in rankings.orders()]


def sample(name):
    """Content of a sample file, uncompressed."""
    content = (SAMPLES / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content
