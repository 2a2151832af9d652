"""A study in words: what a person reads before agreeing to it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fedrank._text import noun, printable
from fedrank.protocol.identity import public_identity
from fedrank.protocol.methods import Kemeny, Method, bound_of
from fedrank.schemes import Borda, Lehmer, Refine

if TYPE_CHECKING:
    from fedrank.protocol.study import Study

SHOWN_LABELS = 3  # at each end
SHOWN_CLIENTS = 100
SHOWN_LETTERS = 60  # of a label or a name
WORDS_PER_LINE = 6
MARGIN = " " * 13  # of all lines that go on with what the line above is about

UNSIGNED = "none: nobody can tell who sends what, and whoever runs the server can read every input"


def summary(study: "Study") -> str:
    """Say in words what a study is; `Study.summary` has an example."""
    parts = [
        ("method", [*describe_method(study.method), f"exactly: {printable(study.method)}"]),
        ("dispersion", [describe_phi(study.fit_phi)]),
        ("rankings", [describe_rankings(study)]),
        ("items", [describe_items(study)]),
        ("clients", describe_clients(study)),
    ]
    if study.coordinator is not None:
        parts.append(("coordinator", [public_identity(study.coordinator).fingerprint]))
    else:
        parts.append(("identities", [UNSIGNED]))
    parts.append(("threshold", describe_threshold(study)))
    parts.append(("privacy", ["no noise: the sum that is opened is exact"]))
    lines = [" ".join(some) for some in batches(study.words, WORDS_PER_LINE)]
    parts.append(("digest", [study.digest, "in words:", *lines]))
    return "\n".join(
        f"{name if first else '':<{len(MARGIN)}}{line}"
        for name, said in parts
        for first, line in zip([True] + [False] * len(said), said, strict=False)
    )


def colluders_of(study: "Study") -> int:
    """Return how many clients may help a hostile server without it learning more than the sum.

    Of two lists of survivors that it shows to different clients, each needs ``t`` signatures, and
    only a colluder signs both.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> colluders_of(Study(Borda(n=2, clients=10), threshold=7))
    3
    """
    return 2 * study.threshold - len(study.roster) - 1


def honest_of(study: "Study") -> int:
    """Return the fewest inputs of honest clients in a sum, if so many clients collude.

    Examples
    --------
    >>> from fedrank import Borda, Study
    >>> honest_of(Study(Borda(n=2, clients=10), threshold=7))
    4
    """
    return study.threshold - colluders_of(study)


def describe_method(method: Method) -> list[str]:
    """Say in words which rounds there are, and what clients send in each.

    Examples
    --------
    >>> describe_method(Borda(n=2, clients=3))
    ['Borda, 1 round', 'clients send mean positions in steps of 1/4 place; each client counts once']
    """
    if isinstance(method, Kemeny):
        limit = f"at most {method.most_rounds}"
        rounds = noun(method.most_rounds, "round")
        return [
            f"Kemeny, 1 round of Borda and {limit} {rounds} of refinement",
            f"first round: {describe_borda(method.start)}",
            f"later rounds: {describe_margins(method)}",
            "the coordinator chooses which items: assume that it learns the sum of every pair",
        ]
    if isinstance(method, Refine):
        return ["refinement of a ranking that the method has, 1 round", describe_margins(method)]
    if isinstance(method, Lehmer):
        bits = f"{method.low_bits} {noun(method.low_bits, 'bit')}"
        how = f", the lowest {bits} of each as a histogram" if method.low_bits else ""
        sent = f"clients send the most frequent digits of their Lehmer codes{how}"
        return ["Lehmer, 1 round", sent]
    return ["Borda, 1 round", describe_borda(method)]


def describe_borda(scheme: Borda) -> str:
    """Say what clients of Borda send.

    Examples
    --------
    >>> describe_borda(Borda(2, 3, send="sums", max_samples=9))
    'clients send exact sums of positions; each ranking counts once'
    """
    steps = f"in steps of 1/{scheme.levels} place" if scheme.levels is not None else ""
    sent = {
        "means": f"mean positions {steps}; each client counts once",
        "weighted": f"mean positions {steps}; each ranking counts once",
        "centroids": f"positions quantized for phi {scheme.phi}; each client counts once",
        "sums": "exact sums of positions; each ranking counts once",
    }
    return f"clients send {sent[scheme.send]}"


def describe_margins(method: Kemeny | Refine) -> str:
    """Say what clients send in a round of refinement.

    Examples
    --------
    >>> describe_margins(Kemeny(5, 3, window=2, max_samples=9))
    'clients compare items up to 2 places apart; each ranking counts once'
    """
    near = "near each other" if method.window == "auto" else f"up to {method.window} places apart"
    weight = "client" if method.majority else "ranking"
    counts = ", and the number of rankings is revealed" if method.counts else ""
    return f"clients compare items {near}; each {weight} counts once{counts}"


def describe_phi(fit_phi: bool) -> str:
    """Say whether phi is fitted."""
    if fit_phi:
        return "fit_phi: one more round measures how widely the rankings scatter"
    return "not measured (no fit_phi)"


def describe_rankings(study: "Study") -> str:
    """Say which rankings a client may hold."""
    bound = bound_of(study.method, study.fit_phi)
    many = (
        "any number per client" if bound is None else f"at most {bound:,} per client (max_samples)"
    )
    return f"{'complete or partial' if study.method.partial else 'complete'}; {many}"


def describe_items(study: "Study") -> str:
    """Say how many items there are, and name the first and the last."""
    if study.items is None:
        return f"{study.method.n:,}, without labels"
    labels = [short(label) for label in study.items]
    if len(labels) > 2 * SHOWN_LABELS:
        labels[SHOWN_LABELS:-SHOWN_LABELS] = ["…"]
    return f"{study.method.n:,}: {', '.join(labels)}"


def describe_clients(study: "Study") -> list[str]:
    """Name the clients, after their fingerprints if they have any: a name can contain anything."""
    total = len(study.roster)
    names = [short(name) for name in study.roster[:SHOWN_CLIENTS]]
    if study.fingerprints is not None:
        marks = study.fingerprints[:SHOWN_CLIENTS]
        names = [f"{mark}  {name}" for mark, name in zip(marks, names, strict=True)]
    more = [f"… {total - SHOWN_CLIENTS:,} more"] if total > SHOWN_CLIENTS else []
    marked = ", with these fingerprints:" if study.signed else ":"
    return [f"{total:,}{marked}", *names, *more]


def describe_threshold(study: "Study") -> list[str]:
    """Say how many must stay, and what the server learns with how many accomplices."""
    said = [f"{study.threshold:,} of {len(study.roster):,} clients must stay to the end"]
    if not study.signed:
        return said
    colluders, honest = colluders_of(study), honest_of(study)
    if colluders == 0:
        alone = "if no client helps it; with the help of one it may read inputs"
        return [*said, f"a hostile server learns the sum only, {alone}"]
    helped = f"even with the help of up to {colluders:,} {noun(colluders, 'client')}"
    hidden = (
        f"with so much help, each input is hidden among at least {honest:,} honest ones"
        if honest > 1
        else "with so much help, the sum may have one honest input, which is then not hidden"
    )
    return [*said, f"a hostile server learns the sum only, {helped}", hidden]


def short(text: object) -> str:
    """Return the start of a label or a name, in one line."""
    shown = printable(text)
    return shown if len(shown) <= SHOWN_LETTERS else f"{shown[: SHOWN_LETTERS - 1]}…"


def batches(words: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    """Cut words into lines.

    Examples
    --------
    >>> list(batches("abc", 2))
    ['ab', 'c']
    """
    return (words[start : start + size] for start in range(0, len(words), size))
