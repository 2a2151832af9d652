"""What the tests with real processes share."""

import pytest

pytest.importorskip("flwr", reason="needs the extra: pip install 'fedrank[flower]'")
