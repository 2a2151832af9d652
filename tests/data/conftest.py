"""What the tests of the readers share."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file of this name with this text or these bytes; returns its path."""

    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make
