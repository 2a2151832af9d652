"""Any ranking, written in any layout, is read back the same or refused; never another one."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedrank import data
from fedrank.exceptions import InputError
from fedrank.rankings.partial import as_partial

LABELS = ["ann", "bob", "cy", "dee", "eve"]
NAMES = st.sampled_from(["id", "name", "x", "patient", "sample", "year", "mrn", ""])
LONG_NAMES = st.sampled_from(
    [
        ["voter", "item", "rank"],
        ["user", "movie", "rating"],
        ["who", "what", "place"],
        ["a", "b", "c"],
        ["reviewer", "title", "stars"],
        ["patient id", "gene id", "p"],
    ]
)


@st.composite
def rankings(draw):
    n = draw(st.integers(2, 5))
    m = draw(st.integers(1, 5))
    rows = [draw(st.permutations(range(n))) for _ in range(m)]
    return LABELS[:n], rows


def written(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@st.composite
def files_with_blanks(draw):
    """Return what `files` does, after blank rows were put below the first row."""
    table, labels, rows, truth = draw(files())
    blank = [[""] * len(table[0])]
    place = draw(st.integers(1, len(table)))
    return table[:place] + blank * draw(st.integers(0, 2)) + table[place:], labels, rows, truth


def as_ranks(labels, rows, base):
    return [labels, *([rank + base for rank in row] for row in rows)]


def as_orders(labels, rows, base):  # noqa: ARG001  labels have no base
    return [[labels[row.index(place)] for place in range(len(row))] for row in rows]


def as_numbers(labels, rows, base):  # noqa: ARG001
    return [[row.index(place) + base for place in range(len(row))] for row in rows]


def with_ids(table, name, ids):
    return [[name, *table[0]], *([i, *row] for i, row in zip(ids, table[1:], strict=True))]


@st.composite
def files(draw):
    """Return a table, the labels of its true items, its true ranks, and options that are true."""
    labels, rows = draw(rankings())
    base = draw(st.sampled_from([0, 1]))
    layout = draw(st.sampled_from(["ranks", "turned", "scores", "orders", "numbers", "long"]))
    truth = {"layout": "ranks"}
    if layout == "ranks":
        table = as_ranks(labels, rows, base)
    elif layout == "turned":
        head = ["gene", *(f"h{i}" for i in range(len(rows)))]
        cells = [[label, *(row[i] + base for row in rows)] for i, label in enumerate(labels)]
        return [head, *cells], labels, rows, truth | {"items_in": "rows"}
    elif layout == "scores":
        table = [labels, *([10.5 - rank for rank in row] for row in rows)]
        truth = {"layout": "scores", "best": "high"}
    elif layout == "orders":
        head = draw(st.sampled_from([["1st", "2nd", "3rd", "4th", "5th"], list("pqrst"), None]))
        table = as_orders(labels, rows, base)
        if draw(st.booleans()):  # the last items are not ranked
            kept = draw(st.integers(1, len(labels)))
            table = [order[:kept] + [""] * (len(order) - kept) for order in table]
            rows = [[rank if rank < kept else -1 for rank in row] for row in rows]
            named = {label for order in table for label in order if label}
            rows = [[row[i] for i, label in enumerate(labels) if label in named] for row in rows]
            labels = [label for label in labels if label in named]
        truth = {"layout": "orders", "header": head is not None}
        if head is not None:
            table = [head[: len(table[0])], *table]
        return table, labels, rows, truth
    elif layout == "numbers":
        head = draw(st.sampled_from([["1st", "2nd", "3rd", "4th", "5th"], None]))
        table = as_numbers(labels, rows, base)
        if head is not None:
            table = [head[: len(labels)], *table]
        items = [i + base for i in range(len(labels))]
        return table, items, rows, {"layout": "orders", "header": head is not None}
    else:
        names = draw(LONG_NAMES)
        scores = names[2] in ("rating", "stars")  # the highest is best
        cells = [
            [f"v{i}", label, len(row) - rank if scores else rank + base]
            for i, row in enumerate(rows)
            for label, rank in zip(labels, row, strict=True)
        ]
        best = {"best": "high" if scores else "low"}
        return [names, *cells], labels, rows, {"layout": "long"} | best
    if draw(st.booleans()):
        name = draw(NAMES)
        start = draw(st.integers(0, 3))
        count = len(rows)
        numbers = draw(
            st.one_of(
                st.just([start + i for i in range(count)]),
                st.lists(st.integers(6, 9999), min_size=count, max_size=count),  # do not rise
            )
        )
        ids = [f"p{i}" for i in range(count)] if name == "patient" else numbers
        table = with_ids(table, name, ids)
        if name:
            truth["id_columns"] = [name]
        else:
            truth["items_in"] = "columns"
    return table, labels, rows, truth


def read_back(votes):
    """Return the rank of each label in each ranking."""
    return [dict(zip(votes.items, row, strict=True)) for row in as_partial(votes).ranks.tolist()]


def expected(labels, rows):
    return [dict(zip(labels, row, strict=True)) for row in rows]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(case=files_with_blanks())
def test_a_ranking_is_read_back_or_refused_never_another_one(tmp_path, case):
    table, labels, rows, truth = case
    path = tmp_path / "votes.csv"
    path.write_text(written(table))
    try:
        found = data.read(path)
    except InputError:
        return
    assert read_back(found) == expected(labels, rows), truth


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(case=files_with_blanks())
def test_a_ranking_that_is_declared_truly_is_read_back(tmp_path, case):
    table, labels, rows, truth = case
    path = tmp_path / "votes.csv"
    path.write_text(written(table))
    if truth["layout"] in ("ranks", "scores"):
        truth = {"items_in": "columns", "header": True} | truth
    try:
        found = data.read(path, **truth)
    except InputError as error:
        # A column of orders may look like names of the rows: the remedy must read it.
        if "put a header such as 1st, 2nd, … above the table" not in str(error.remedy):
            raise
        places = ["1st", "2nd", "3rd", "4th", "5th"][: len(table[0])]
        path.write_text(written([places, *table[truth["header"] :]]))
        found = data.read(path, layout="orders")
    assert read_back(found) == expected(labels, rows)


def are_permutations(rows):
    wanted = [list(range(base, base + len(rows[0]))) for base in (0, 1)]
    return any(all(sorted(row) == each for row in rows) for each in wanted)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(case=rankings(), base=st.sampled_from([0, 1]))
def test_what_is_certain_is_read_back_without_options(tmp_path, case, base):
    labels, rows = case
    path = tmp_path / "votes.csv"
    truth = expected(labels, rows)
    path.write_text(written([["1st", "2nd", "3rd", "4th", "5th"][: len(labels)]]))
    with path.open("a") as file:
        file.write(written(as_orders(labels, rows, base)))
    assert read_back(data.read(path)) == truth
    ranks = [[rank + base for rank in row] for row in rows]
    columns = [list(column) for column in zip(*ranks, strict=True)]
    if are_permutations(columns):
        return  # then rankings may be in the rows, or in the columns
    names = [f"h{i}" for i in range(len(rows))] if len(rows) > 1 else ["place"]
    path.write_text(written([["gene", *names]]))
    with path.open("a") as file:
        file.write(written([[label, *row] for label, row in zip(labels, columns, strict=True)]))
    assert read_back(data.read(path)) == truth
    # A first column that is constant may be the number of a site.
    if len(labels) == 2 or len(set(columns[0])) > 1:
        path.write_text(written(as_ranks(labels, rows, base)))
        assert read_back(data.read(path)) == truth


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(case=files_with_blanks())
def test_one_of_the_choices_of_a_refusal_reads_the_true_ranking(tmp_path, case):
    table, labels, rows, truth = case
    path = tmp_path / "votes.csv"
    path.write_text(written(table))
    choices = []
    try:
        data.read(path)
    except InputError as error:
        choices = [options for _, options in error.choices]
        if "if it is an order" in str(error.remedy) and not truth.get("header", True):
            return  # the remedy is the answer: the first order has no item of the others
    read = [read_back(data.read(path, **options)) for options in choices]
    assert not choices or expected(labels, rows) in read
