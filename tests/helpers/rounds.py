"""Make refine.json and dispersion.json from the definitions.

`python -m helpers.rounds`, in the folder tests, writes both. No code of the product takes part:
everything comes from helpers/reference.py.
"""

import json
import random
from math import comb, sqrt

from helpers import reference
from helpers.paths import VECTORS

REFINE = (
    "Messages of a refinement (M14). Each case: rankings of one client, and the rankings "
    "announced so far, the last one last; all are rank vectors. The message has one entry for "
    "every two items at most window places apart in the last one, neighbours first, unless they "
    "were in an earlier one: the margin of the better placed over the other, in two's complement. "
    "With the window auto, that is 1 + 2 d for an item that is d places from where the ranking "
    "before had it (1 in the first), and of two items the larger window counts. "
    "With counts the first round's message ends in the number of rankings. With majority an entry "
    "is 1 if the margin is above 0, else 0 (no case has a margin of 0). packed is hexadecimal."
)
DISPERSION = (
    "Messages and fits of a dispersion (M15). Each case: rankings of one client and the announced "
    "ranking. The message is the sum of Kendall distances, unless there is one item only, and the "
    "number of rankings; packed is hexadecimal. phi and standard_error are those of this message "
    "alone, by enumeration of the Mallows model."
)


def shuffled(rng, n):
    return rng.sample(range(n), n)


def refine_case(rng, n, samples, window, rounds, clients, most, counts=False, majority=False):
    rankings = [shuffled(rng, n) for _ in range(samples)]
    announced = [shuffled(rng, n) for _ in range(rounds)]
    if majority:
        pairs = reference.refine_pairs(announced, window)
        message = [int(reference.margin(rankings, a, b) > 0) for a, b in pairs]
        widths = [reference.bits_for(clients)] * len(message)
    else:
        bits = reference.refine_bits(clients, most)
        message = reference.refine_message(rankings, announced, window, bits, counts)
        widths = [bits] * len(message)
        if counts and rounds == 1:
            pairs = comb(n, 2)
            margins = len(reference.refine_pairs(announced, window))
            widths[margins:] = [reference.bits_for(clients * most * pairs)] * (margins < pairs)
            widths += [reference.bits_for(clients * most)]
    return {
        "rankings": rankings,
        "announced": announced,
        "clients": clients,
        "max_samples": most,
        "window": window,
        "counts": counts,
        "majority": majority,
        "message": message,
        "packed": reference.pack(message, widths).hex(),
    }


def dispersion_case(rng, n, samples, clients, most):
    announced = shuffled(rng, n)
    rankings = [reference.sample(0.5, announced, rng) for _ in range(samples)]
    distance = sum(reference.kendall(announced, r) for r in rankings)
    farthest = n * (n - 1) // 2
    message = [distance] * (n > 1) + [samples]
    widths = [reference.bits_for(clients * most * farthest)] * (n > 1)
    widths += [reference.bits_for(clients * most)]
    phi = reference.fit_phi(distance / samples, n)
    variance = reference.distance_moments(phi, n)[1]
    return {
        "rankings": rankings,
        "announced": announced,
        "clients": clients,
        "max_samples": most,
        "message": message,
        "packed": reference.pack(message, widths).hex(),
        "phi": round(phi, 12),
        "standard_error": round(phi / sqrt(samples * variance), 12) if phi else 0.0,
    }


def write(folder, name, about, cases):
    rows = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    text = f'{{\n  "about": {json.dumps(about)},\n  "cases": [\n{rows}\n  ]\n}}\n'
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def main(folder=VECTORS):
    rng, later = random.Random(14), random.Random(15)
    write(
        folder,
        "refine",
        REFINE,
        [
            refine_case(rng, 1, 2, 1, 1, 2, 5),
            refine_case(rng, 2, 3, 1, 1, 2, 3),
            refine_case(rng, 5, 4, 1, 1, 3, 4),
            refine_case(rng, 5, 4, 2, 1, 3, 50, counts=True),
            refine_case(rng, 6, 7, 9, 1, 10, 7, counts=True),
            refine_case(rng, 7, 5, 2, 2, 10, 63),
            refine_case(rng, 7, 6, 2, 3, 10, 64, counts=True),
            refine_case(rng, 6, 5, 3, 1, 4, 5, majority=True),
            refine_case(rng, 7, 3, 2, 2, 3, 5, majority=True),
            refine_case(rng, 4, 3, 2, 1, 1, 2**31 - 1),
            refine_case(later, 6, 5, "auto", 1, 4, 7),
            refine_case(later, 7, 4, "auto", 2, 3, 9, counts=True),
            refine_case(later, 8, 5, "auto", 3, 3, 9, majority=True),
        ],
    )
    write(
        folder,
        "dispersion",
        DISPERSION,
        [
            dispersion_case(rng, 1, 3, 2, 5),
            dispersion_case(rng, 2, 3, 2, 3),
            dispersion_case(rng, 4, 1, 3, 1),
            dispersion_case(rng, 5, 4, 10, 100),
            dispersion_case(rng, 6, 2, 50, 65_535),
        ],
    )


if __name__ == "__main__":
    main()
