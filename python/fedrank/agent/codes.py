"""All that leaves a machine when something is wrong."""

from enum import StrEnum


class Code(StrEnum):
    """Why a request was not answered, in one of a few fixed words.

    Examples
    --------
    >>> Code("refused") is Code.REFUSED
    True
    """

    UNAVAILABLE = "unavailable"
    """The agent does not run, or does not answer."""
    REFUSED = "refused"
    """The policy does not allow it."""
    DATA = "data"
    """The rankings cannot be read, or do not suit the study."""
    PROTOCOL = "protocol"
    """Secure aggregation refuses the message: malformed, foreign, or a second, different one."""
    ERROR = "error"
    """Anything else."""


class RefusalError(Exception):
    """A request that is not answered.

    Parameters
    ----------
    code : Code
        All that may leave the machine.
    detail : str
        What is wrong, for the local log only.

    Examples
    --------
    >>> RefusalError(Code.REFUSED, "2 rankings are fewer than least_samples").code.value
    'refused'
    """

    def __init__(self, code: Code, detail: str = "") -> None:
        super().__init__(detail or code.value)
        self.code = code
