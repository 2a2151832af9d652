"""Seeds for the core, from whatever the caller calls randomness."""

import numpy as np

type RNG = None | int | np.random.Generator
