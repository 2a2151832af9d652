"""Peak memory beyond the input, in a separate process, beside output and O(n) per thread."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .harness import Clock, Row

PEAK_RESET = Path("/proc/self/clear_refs")  # only Linux has it
WORDS_PER_ITEM = 16  # per thread
OVERHEAD_BYTES = 1 << 20  # that Python and malloc may take
PAGE_BYTES = 4096
KERNELS = {
    "kendall_distance(rankings, center)": "fr.kendall_distance(r, c)",
    "footrule_distance(rankings, center)": "fr.footrule_distance(r, c)",
    "pairwise_counts(rankings)": "fr.pairwise_counts(r)",
    "lehmer_encode(rankings)": "fr.lehmer_encode(r)",
    "lehmer_decode(codes)": "fr.lehmer_decode(x)",
    "kemeny_score(center, rankings)": "fr.kemeny_score(c, r)",
    "Mallows(0.6).sample(m)": "fr.Mallows(0.6, center=c).sample(len(r), rng=1).ranks",
    "aggregate(rankings)": "fr.aggregate(r).ranks",
    "Rankings(array)": "fr.Rankings(x).ranks",
    "kendall_distance(array, center)": "fr.kendall_distance(x, c)",
    "lehmer_encode(array)": "fr.lehmer_encode(x)",
}
PROBE = """
import numpy as np, fedrank as fr
def status(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024
def call(r, c, x):
    return {call}
c = fr.Rankings(np.arange({n}))
few = fr.Rankings(np.tile(np.arange({n}, dtype=np.int32), (100, 1)))
call(few, c, np.zeros((100, {n}), dtype=np.int32) if {codes} else few.ranks)  # starts the threads
r = fr.Mallows(1.0, n={n}).sample({m}, rng=1)
x = np.array(fr.lehmer_encode(r) if {codes} else r.ranks)
open("/proc/self/clear_refs", "w").write("5")  # resets the peak
before = status("VmRSS")
result = call(r, c, x)
print(status("VmHWM") - before, getattr(result, "nbytes", 8))
"""


def run(clock: Clock) -> Iterator[Row]:
    if not PEAK_RESET.exists():
        return
    n, m = (1000, 2000) if clock.quick else (1000, 20_000)
    allowance = 8 * WORDS_PER_ITEM * n * (os.cpu_count() or 1) + OVERHEAD_BYTES
    for name, call in KERNELS.items():
        code = PROBE.format(call=call, n=n, m=m, codes="codes" in name)
        probe = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"},  # freed memory is given back
            check=True,
            capture_output=True,
            text=True,
        )
        extra, output = map(int, probe.stdout.split())
        allowed = output + allowance
        cells = [f"{size / 2**20:.1f} MiB" for size in (extra, allowed)]
        label = f"memory of {name}, {m:,} × {n:,} · output + O(n)"
        yield Row(label, *cells, allowed / max(extra, PAGE_BYTES), 1)
