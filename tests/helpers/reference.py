"""The definitions, written slowly and obviously; shares no code with the product.

A ranking is a sequence: entry ``i`` is the position of item ``i``, 0 the best.
"""

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import ceil, comb, floor, log, log2


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


def random_profile(seed, n, m):
    """Rankings drawn uniformly: m, of n items."""
    source = random.Random(seed)
    return [tuple(source.sample(range(n), n)) for _ in range(m)]


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


@cache
def nearest_places(mean, phi, n, slack):
    """Places whose expected positions are nearest to a mean position (M6)."""
    gaps = [abs(mean - centroid) for centroid in expected_positions_by_formula(phi, n)]
    return {j for j, gap in enumerate(gaps) if gap <= min(gaps) + slack}


def borda_places(rankings, phi, slack=Fraction(1, 10**11)):
    """Places nearest to each item's mean position, in a set for each: two on a midpoint (M6).

    ``slack`` admits both sides of a midpoint nearer than floating point can tell.
    """
    means = [Fraction(total, len(rankings)) for total in position_sums(rankings)]
    return [nearest_places(mean, phi, len(means), slack) for mean in means]


def staggered(rankings, levels, client, clients, samples=None):
    """Mean positions in steps of 1/levels, rounded down after the client's shift (M16).

    With ``samples`` they are weighted: sums are divided by it instead of the number of rankings.
    """
    shift = Fraction(2 * client + 1, 2 * clients)
    means = [Fraction(total) / (samples or len(rankings)) for total in position_sums(rankings)]
    return [floor(levels * mean + shift) for mean in means]


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


def ranked(scores, random):
    """Rank by score, least first, equal ones in random order (M5)."""
    mixed = {i: random.random() for i in range(len(scores))}
    return inverse(sorted(mixed, key=lambda i: (scores[i], mixed[i])))


def drawn(options, random):
    """One of each set."""
    return [random.choice(sorted(option)) for option in options]


def together(parts):
    """The rankings of all clients."""
    return [ranking for part in parts for ranking in part]


def central_borda(parts, random):
    """All rankings in one place, by mean position (M5)."""
    return ranked(position_sums(together(parts)), random)


def central_lehmer(parts, random):
    """All rankings in one place, by the plurality of every digit (M7)."""
    return decode(drawn(lehmer_digits(together(parts)), random))


def federated_borda(parts, phi, random):
    """Every client sends the places nearest to its means; ranked by their sums (M6)."""
    return ranked(position_sums([drawn(borda_places(part, phi), random) for part in parts]), random)


def federated_lehmer(parts, low_bits, rule, random):
    """Every client sends its plurality digits, split; the server reads their sum (M8)."""
    messages = [lehmer_message(drawn(lehmer_digits(part), random), low_bits) for part in parts]
    total = [sum(entries) for entries in zip(*messages, strict=True)]
    n = len(parts[0][0])
    return decode(drawn(lehmer_server(total, n, low_bits, len(parts), rule), random))


def paper_low_bits(phi, n, total, epsilon=0.01):
    """The paper's number of low bits (M8), with its p (M7)."""
    p = sum(phi**u for u in range(1, n)) / (1 + sum(phi**u for u in range(3, n + 1)))
    return ceil(log2(2 * log(total * n**2 / epsilon) / log(1 / p) + 1))


def central_kemeny(parts, random):
    """A ranking of least total distance, any with equal chance: by best beginnings (M11)."""
    before = pairwise(together(parts))
    n = len(before)
    # The least cost of orders that begin with a set of items, and how many have it.
    cost, ways = {frozenset(): 0}, {frozenset(): 1}
    for size in range(1, n + 1):
        for chosen in map(frozenset, combinations(range(n), size)):
            options = {}
            for last in chosen:
                rest = chosen - {last}
                options[last] = cost[rest] + sum(before[last][other] for other in rest)
            cost[chosen] = min(options.values())
            ways[chosen] = sum(
                ways[chosen - {last}] for last, c in options.items() if c == cost[chosen]
            )
    order, left = [], frozenset(range(n))
    while left:
        ends = {
            last: ways[left - {last}]
            for last in left
            if cost[left - {last}] + sum(before[last][o] for o in left - {last}) == cost[left]
        }
        last = random.choices(list(ends), weights=list(ends.values()))[0]
        order.insert(0, last)
        left -= {last}
    return inverse(order)


def margin(rankings, a, b):
    """How many put item a before item b, less the reverse."""
    return sum((r[a] < r[b]) - (r[a] > r[b]) for r in rankings)


def refine_pairs(announced, window):
    """Pairs of items that the last announced ranking asks for, in the message's order (M14).

    With "auto", an item is asked with others up to 1 + 2 d places away, d being how far it is from
    its place in the ranking announced before.
    """

    def reach(round, item):
        if window != "auto":
            return window
        return 1 + 2 * abs(announced[round][item] - announced[max(round - 1, 0)][item])

    def near(round, a, b):
        apart = abs(announced[round][a] - announced[round][b])
        return apart <= max(reach(round, a), reach(round, b))

    last = len(announced) - 1
    order = inverse(announced[last])
    n = len(order)
    band = [(order[i], order[i + d]) for d in range(1, n) for i in range(n - d)]
    return [
        pair
        for pair in band
        if near(last, *pair) and not any(near(round, *pair) for round in range(last))
    ]


def known_pairs(announced, window):
    """All pairs asked in any round."""
    rounds = range(1, len(announced) + 1)
    asked = [refine_pairs(announced[:count], window) for count in rounds]
    return [frozenset(pair) for pairs in asked for pair in pairs]


def refine_bits(clients, samples):
    """Bits of a margin in two's complement: -most to most must fit."""
    bits = 1
    while 2 ** (bits - 1) - 1 < clients * samples:
        bits += 1
    return bits


def refine_message(rankings, announced, window, bits, counts=False):
    """Margins in two's complement; in the first round sums, if asked (M14).

    These are the rankings' distances to the announced one, unless all pairs are asked, and the
    number of rankings.
    """
    pairs = refine_pairs(announced, window)
    message = [margin(rankings, a, b) % 2**bits for a, b in pairs]
    if counts and len(announced) == 1:
        if len(pairs) < comb(len(announced[0]), 2):
            message.append(sum(kendall(announced[0], r) for r in rankings))
        message.append(len(rankings))
    return message


def unranked_last(ballots):
    """Partial rankings with what is not ranked (-1) at a level below all others."""
    return [[max(ballot) + 1 if x == -1 else x for x in ballot] for ballot in ballots]


def mid_ranks(ballot):
    """Mean of the places that the items tied with each one share; the unranked share the last."""
    (levels,) = unranked_last([ballot])
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    shared = [[place for place, i in enumerate(order) if levels[i] == own] for own in levels]
    return [Fraction(sum(places), len(places)) for places in shared]


def half_distance(ranking, ballot):
    """Pairs that a partial ranking has the other way round, and half of those it ties."""
    (levels,) = unranked_last([ballot])
    total = Fraction(0)
    for a, b in combinations(range(len(levels)), 2):
        if levels[a] == levels[b]:
            total += Fraction(1, 2)
        else:
            total += (levels[a] < levels[b]) != (ranking[a] < ranking[b])
    return total


def least_half_distance(ballots):
    """Least sum of half distances of any ranking, by enumeration."""
    everyone = permutations(range(len(ballots[0])))
    return min(sum(half_distance(r, b) for b in ballots) for r in everyone)


def pack(entries, widths):
    """Entries without gaps, the least significant bit first, in whole bytes (M9)."""
    bits = [value >> i & 1 for value, w in zip(entries, widths, strict=True) for i in range(w)]
    bits += [0] * (-len(bits) % 8)
    return bytes(sum(b << i for i, b in enumerate(bits[k : k + 8])) for k in range(0, len(bits), 8))


def distance_moments(phi, n):
    """Mean and variance of the distance from the center, by enumeration (M15)."""
    law = mallows(phi, tuple(range(n)))
    distances = {r: kendall(r, range(n)) for r in law}
    mean = sum(p * distances[r] for r, p in law.items())
    return mean, sum(p * (distances[r] - mean) ** 2 for r, p in law.items())


def fit_phi(mean, n):
    """The phi at which the mean distance is this, by halving (M15)."""
    if mean <= 0:
        return 0.0
    if mean >= n * (n - 1) / 4:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if distance_moments(middle, n)[0] < mean else (low, middle)
    return (low + high) / 2
