"""What the tests of pictures share."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # of others
    yield
    plt.close("all")
