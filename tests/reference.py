"""The definitions, written slowly and obviously; shares no code with the product.

A ranking is a sequence: entry ``i`` is the position of item ``i``, 0 the best.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import floor


def kendall(a, b):
    """Pairs of items that the two order differently (M1)."""
    return sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in combinations(range(len(a)), 2))


def footrule(a, b):
    """Places that the items move, in all."""
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def inverse(ranking):
    """Items, best first; and back."""
    return tuple(sorted(range(len(ranking)), key=lambda i: ranking[i]))


def encode(ranking):
    """Digit i counts the earlier items that rank after item i (M2)."""
    return tuple(sum(x > own for x in ranking[:i]) for i, own in enumerate(ranking))


def decode(code):
    """Insert the items in turn, each so that as many stand after it as its digit says (M2)."""
    order = []
    for item, digit in enumerate(code):
        order.insert(len(order) - digit, item)
    return inverse(order)


def golomb_word(digit, k):
    """q zeros and a one, then r in truncated binary, for digit = q k + r (M13)."""
    q, r = divmod(digit, k)
    bits = 0
    while 2**bits < k:
        bits += 1
    short = 2**bits - k  # so many remainders take a bit less
    if r >= short:
        return "0" * q + "1" + (f"{r + short:0{bits}b}" if bits else "")
    return "0" * q + "1" + (f"{r:0{bits - 1}b}" if bits > 1 else "")


def golomb(codes, parameters):
    """All digits, row by row, as bytes: the first bit is the highest, zeros fill the last byte."""
    words = (golomb_word(d, k) for code in codes for d, k in zip(code, parameters, strict=True))
    text = "".join(words)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))


def repeat(rankings, weights):
    """Each ranking as often as its weight says."""
    return [r for r, weight in zip(rankings, weights, strict=True) for _ in range(weight)]


def pairwise(rankings):
    """How many put item i before item j, at [i][j]."""
    n = len(rankings[0])
    return [[sum(r[i] < r[j] for r in rankings) for j in range(n)] for i in range(n)]


def position_sums(rankings):
    """Sum of each item's positions: what Borda ranks by (M5)."""
    return [sum(column) for column in zip(*rankings, strict=True)]


def borda(rankings):
    """Rank by the sum of positions, ties by item (M5)."""
    sums = position_sums(rankings)
    return inverse(sorted(range(len(sums)), key=lambda i: (sums[i], i)))


def lehmer_digits(rankings):
    """The most frequent digits of each place, in a set for each: several if tied (M7)."""
    places = zip(*map(encode, rankings), strict=True)
    counts = [Counter(place) for place in places]
    return [{d for d, c in count.items() if c == max(count.values())} for count in counts]


def best(distance, rankings):
    """Least total distance of any ranking, and the set of those that attain it."""
    everyone = permutations(range(len(rankings[0])))
    totals = {c: sum(distance(c, r) for r in rankings) for c in everyone}
    least = min(totals.values())
    return least, {c for c, total in totals.items() if total == least}


def kemeny(rankings):
    """Least total Kendall distance and all its rankings, by enumeration (M11)."""
    return best(kendall, rankings)


def footrule_consensus(rankings):
    """Least total footrule distance and all its rankings, by enumeration (M11)."""
    return best(footrule, rankings)


def mallows(phi, center):
    """Probability of every ranking, by enumeration (M3)."""
    distances = {r: kendall(r, center) for r in permutations(range(len(center)))}
    total = sum(phi**d for d in distances.values())
    return {r: phi**d / total for r, d in distances.items()}


def sample(phi, center, random):
    """One Mallows ranking, by insertion with truncated geometric digits (M3)."""
    digits = [
        random.choices(range(i + 1), weights=[phi**j for j in range(i + 1)])[0]
        for i in range(len(center))
    ]
    around_identity = decode(digits)
    return tuple(around_identity[place] for place in center)


def bits_for(most):
    """Least number of bits that hold every value from 0 to ``most``: ceil(log2(most + 1)) (M9)."""
    bits = 0
    while 2**bits < most + 1:
        bits += 1
    return bits


def borda_widths(n, clients, samples=1):
    """Bits of each entry; exact sums for ``samples`` rankings, places for 1 (M6)."""
    width = bits_for(clients * samples * (n - 1))
    return [width] * n if width else []


def lehmer_widths(n, clients, low_bits):
    """Bits of each entry: high parts that can be more than 0, then slots but the last (M8)."""
    highs = [bits_for(clients * (i // 2**low_bits)) for i in range(n)]
    slots = sum(min(2**low_bits, i + 1) - 1 for i in range(n))
    return [width for width in highs if width] + [bits_for(clients)] * slots


@cache
def expected_positions(phi, n):
    """Mean 0-based position of each place's item, exactly, by enumeration (M4)."""
    exact = Fraction(phi)
    mean, total = [Fraction(0)] * n, Fraction(0)
    for r in permutations(range(n)):
        weight = exact ** kendall(r, range(n))
        total += weight
        mean = [m + weight * position for m, position in zip(mean, r, strict=True)]
    return [m / total for m in mean]


@cache
def expected_positions_by_formula(phi, n):
    """The same by the closed form (M4), 1-based as there, in exact fractions."""
    exact = Fraction(phi)

    def g(t):
        return t * exact**t / (1 - exact**t)

    return [i + g(i) - g(n + 1 - i) - 1 for i in range(1, n + 1)]


def borda_places(rankings, phi, slack=Fraction(1, 10**11)):
    """Places nearest to each item's mean position, in a set for each: two on a midpoint (M6).

    ``slack`` admits both sides of a midpoint nearer than floating point can tell.
    """
    centroids = expected_positions_by_formula(phi, len(rankings[0]))
    places = []
    for total in position_sums(rankings):
        gaps = [abs(Fraction(total, len(rankings)) - c) for c in centroids]
        places.append({j for j, gap in enumerate(gaps) if gap <= min(gaps) + slack})
    return places


def lehmer_message(digits, low_bits):
    """High parts as numbers, then low parts one-hot without the last slot (M8)."""
    step = 2**low_bits
    highs = [v // step for i, v in enumerate(digits) if i // step > 0]
    lows = []
    for i, v in enumerate(digits):
        one_hot = [int(v % step == slot) for slot in range(min(step, i + 1))]
        lows += one_hot[:-1]
    return highs + lows


def lehmer_parts(total, n, low_bits, survivors):
    """Sum of the high parts and histogram of the low parts, for each item (M8)."""
    step = 2**low_bits
    entries = iter(total)
    highs = [next(entries) if i // step > 0 else 0 for i in range(n)]
    parts = []
    for i in range(n):
        sent = [next(entries) for _ in range(min(step, i + 1) - 1)]
        parts.append((highs[i], [*sent, survivors - sum(sent)]))
    return parts


def lehmer_server(total, n, low_bits, survivors, rule):
    """Digits that the server may choose, in a set for each item (M8)."""
    step = 2**low_bits
    admissible = []
    for i, (high, histogram) in enumerate(lehmer_parts(total, n, low_bits, survivors)):
        chosen = set()
        for low in (j for j, count in enumerate(histogram) if count == max(histogram)):
            candidates = range(low, i + 1, step)
            if rule == "paper":
                value = step * floor(Fraction(high, survivors) + Fraction(1, 2)) + low
                chosen.add(max(c for c in candidates if c <= value))
            else:
                lows = sum(j * count for j, count in enumerate(histogram))
                mean = Fraction(step * high + lows, survivors)
                nearest = min(abs(c - mean) for c in candidates)
                chosen |= {c for c in candidates if abs(c - mean) == nearest}
        admissible.append(chosen)
    return admissible
