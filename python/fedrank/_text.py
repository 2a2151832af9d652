"""Text that may come from data, made fit to be shown."""


def printable(value: object) -> str:
    r"""Text in one line, without codes that a terminal would obey.

    Examples
    --------
    >>> printable("a\x1b[31mb\n c")
    'a�[31mb c'
    """
    line = " ".join(str(value).split())
    return "".join(char if char.isprintable() else "�" for char in line)
