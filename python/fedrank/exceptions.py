"""Errors of our own; everything else is a plain ValueError."""

from enum import StrEnum

__all__ = ["Code", "MissingExtraError", "ProtocolError", "RefusalError", "RunFailedError"]


class ProtocolError(ValueError):
    """A message or a call that secure aggregation refuses.

    Attributes
    ----------
    code : str
        A fixed word for the kind of error: all that need leave a machine.

    Examples
    --------
    >>> ProtocolError("too few clients are left", "few").code
    'few'
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["ProtocolError"], tuple[str, str]]:
        return type(self), (str(self), self.code)


class RunFailedError(ProtocolError):
    """A run that came to nothing; the message says why, and who was lost at which step.

    Examples
    --------
    >>> issubclass(RunFailedError, ProtocolError)
    True
    """


class MissingExtraError(ImportError, ValueError):
    """A library of an optional extra is not installed; the message says how to get it.

    An ImportError for who imports, a ValueError for the command line, which prints its line.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


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
    >>> RefusalError(Code.REFUSED, "2 rankings are fewer than min_samples").code.value
    'refused'
    """

    def __init__(self, code: Code, detail: str = "") -> None:
        super().__init__(detail or code.value)
        self.code = code
