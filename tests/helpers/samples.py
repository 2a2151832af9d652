"""The sample files, and what their rankings say."""

import gzip

from helpers.paths import SAMPLES


def labelled(rankings):
    return [[rankings.items[i] for i in order] for order in rankings.orders()]


def sample(name):
    content = (SAMPLES / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content
