"""For mypy: the modules that load lazily are known, with their types.

Each line is wrong on purpose. If a module were unknown, and so of type Any, mypy would find that
its complaint need not be ignored, and fail.
"""

import fedrank as fr


def check() -> None:
    """Use what mypy must know."""
    _: str = fr.secagg.MIN_SURVIVORS  # type: ignore[assignment]
    fr.data.read()  # type: ignore[call-overload]
    fr.agent.Agent()  # type: ignore[call-arg]
    fr.plots.save()  # type: ignore[call-arg]
