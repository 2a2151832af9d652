"""Where the files are that tests read."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS / "samples"  # small files of each format
VECTORS = TESTS / "vectors"  # golden vectors, which the Rust tests read too
