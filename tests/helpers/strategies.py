"""Hypothesis strategies of rankings."""

from hypothesis import strategies as st

seeds = st.integers(0, 2**32)


def complete(n):
    """Complete rankings of n items, as tuples of positions."""
    return st.permutations(range(n)).map(tuple)


def partial(n):
    """Positions of n items, of which not all are unranked."""
    return st.lists(st.integers(-1, n), min_size=n, max_size=n).filter(lambda row: max(row) >= 0)


def profiles(most_items, most_rows=8, rows=complete):
    """Lists of rankings over the same items."""
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(rows(n), min_size=1, max_size=most_rows)
    )


def federations(most_items, most_clients=5, rows=complete):
    """Profiles of several clients over the same items."""
    return st.integers(1, most_items).flatmap(
        lambda n: st.lists(
            st.lists(rows(n), min_size=1, max_size=4), min_size=1, max_size=most_clients
        )
    )
