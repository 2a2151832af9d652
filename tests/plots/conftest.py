"""What the tests of pictures share."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    plt.close("all")  # of others
    yield
    assert plt.get_fignums() == []
