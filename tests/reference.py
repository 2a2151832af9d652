"""The definitions, written slowly and obviously; shares no code with the product.

A ranking is a sequence: entry ``i`` is the position of item ``i``, 0 the best.
"""

from collections import Counter
from itertools import combinations, permutations


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
