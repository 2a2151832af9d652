"""The Mallows model at 40 to 60 digits."""

from mpmath import mp, mpf


def g(t, phi):
    return t * phi**t / (1 - phi**t)


def exact_ranks(phi, n):
    """0-based means by the textbook formula of M4, at 60 digits."""
    with mp.workdps(60):
        x = mpf(phi)
        return [mpf(i - 1) + g(i, x) - g(n + 1 - i, x) for i in range(1, n + 1)]


def exact_distance(phi, n):
    with mp.workdps(60):
        x = mpf(phi)
        return sum(g(1, x) - g(i, x) for i in range(1, n + 1))


def exact_variance(phi, n):
    with mp.workdps(60):
        x = mpf(phi)
        return n * x / (1 - x) ** 2 - sum(i * i * x**i / (1 - x**i) ** 2 for i in range(1, n + 1))


def exact_log_partition(phi, n):
    with mp.workdps(60):
        x = mpf(phi)
        return sum(mp.log((1 - x**i) / (1 - x)) for i in range(1, n + 1))


def exact_phi(distance, n):
    with mp.workdps(40):
        return mp.findroot(
            lambda x: sum(g(1, x) - g(i, x) for i in range(1, n + 1)) - distance,
            (mpf(10) ** -12, 1 - mpf(10) ** -12),
            solver="anderson",
            tol=1e-50,
        )
