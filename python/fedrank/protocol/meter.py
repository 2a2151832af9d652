"""How far a run inside one process is: the expected time of each client's part of each step."""

from collections.abc import Sequence

from fedrank._progress import Progress
from fedrank.protocol.methods import DISPERSION, REFINE, START, Kemeny, scheme_of
from fedrank.protocol.secagg import STEPS
from fedrank.protocol.study import Study
from fedrank.schemes import AnyScheme
from fedrank.transport.base import Step

# Seconds of one core, measured once. Only their ratios matter.
PAIR_SECONDS = 120e-6  # a key agreement and a sealed share
SHARE_SECONDS = 2e-6  # per pair of clients and share that the threshold needs
MASK_SECONDS = 250e-6  # a share opened and a key agreement
STREAM_SECONDS = 4e-9  # per pair of clients and entry of the message
VERIFY_SECONDS = 50e-6  # a signature verified
PACK_SECONDS = 20e-9  # per entry of the message
ANSWER_SECONDS = 50e-6  # any answer
ENCODE_SECONDS = {"borda": 1e-9, "lehmer": 70e-9, "refine": 0.5e-9, "dispersion": 10e-9}
"""Per ranking and item, or, in a refinement, per ranking and entry of the message."""


class Meter:
    """Advances a bar by what each client's part of a step is expected to take.

    All rounds that the method allows are expected: a refinement that ends early, because nothing
    moves, ends the bar early. Without a limit on the rounds nobody knows the end, so the bar has no
    total.

    Parameters
    ----------
    study : Study
        What is run.
    sizes : sequence of int
        Number of rankings of each client.
    secure : bool
        Whether the messages are masked.
    progress : Progress
        The bar; its total is set.
    """

    def __init__(
        self, study: Study, sizes: Sequence[int], secure: bool, progress: Progress
    ) -> None:
        self.steps = study.steps if secure else STEPS
        self.signed = study.signed
        self.threshold = study.threshold
        self.sizes = sizes
        self.secure = secure
        self.schemes = expected_rounds(study)
        self.open_end = isinstance(study.method, Kemeny) and study.method.rounds is None
        self.progress = progress
        if not self.open_end:
            progress.total = sum(
                self.seconds(number, name, client)
                for number in range(len(self.schemes))
                for name in self.steps
                for client in range(len(sizes))
            )

    def answered(self, step: Step, client: int) -> None:
        """Count one client's part of a step."""
        rounds = len(self.schemes)
        most = "" if self.open_end else f" of {rounds}"
        where = f"round {step.round + 1}{most}, " if rounds > 1 else ""
        self.progress.label = f"federate: {where}{step.name}"
        self.progress.advance(self.seconds(min(step.round, rounds - 1), step.name, client))

    def waiting(self) -> None:
        """Let the clock of the bar go on."""
        self.progress.tick()

    def seconds(self, number: int, name: str, client: int) -> float:
        """Return the expected time of one client's part of a step."""
        scheme, peers = self.schemes[number], len(self.sizes)
        entries = sum(segment.entries for segment in scheme._core_scheme.segments)
        seconds = ANSWER_SECONDS
        if name == "share" and self.secure:
            seconds += peers * (PAIR_SECONDS + SHARE_SECONDS * self.threshold)
        if name == "mask":
            cells = entries if scheme.kind == "refine" else scheme.n
            seconds += self.sizes[client] * cells * ENCODE_SECONDS[scheme.kind]
            seconds += entries * PACK_SECONDS
        if name == "mask" and self.secure:
            seconds += peers * (MASK_SECONDS + entries * STREAM_SECONDS)
            seconds += peers * VERIFY_SECONDS * self.signed
        if name == "unmask" and self.secure:
            seconds += self.threshold * VERIFY_SECONDS * self.signed
        return seconds


def expected_rounds(study: Study) -> list[AnyScheme]:
    """Return a scheme as large as that of each round, if no round is left out.

    Of rounds without a limit there is one; with the window "auto", later ones may be larger.

    Examples
    --------
    >>> study = Study(Kemeny(5, 3, window=2, rounds=2, max_samples=9), fit_phi=True)
    >>> [scheme.kind for scheme in expected_rounds(study)]
    ['borda', 'refine', 'refine', 'dispersion']
    """
    method = study.method
    order = list(range(method.n))
    refinements = method.rounds or 1 if isinstance(method, Kemeny) else 0
    schemes = [scheme_of(method, study.fit_phi, START, [])]
    if refinements:
        schemes += [scheme_of(method, study.fit_phi, REFINE, [order])] * refinements
    if study.fit_phi:
        schemes.append(scheme_of(method, True, DISPERSION, [order]))
    return schemes
