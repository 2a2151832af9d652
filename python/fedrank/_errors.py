"""Errors of our own; everything else is a plain ValueError."""


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


class MissingExtraError(ImportError, ValueError):
    """A library of an optional extra is not installed; the message says how to get it.

    An ImportError for who imports, a ValueError for the command line, which prints its line.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """
