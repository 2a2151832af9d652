"""Objects that cannot be changed once they are made."""


class Frozen:
    """Base of classes whose objects refuse new values after `_freeze`.

    Examples
    --------
    >>> class Point(Frozen):
    ...     def __init__(self, x):
    ...         self.x = x
    ...         self._freeze()
    >>> try:
    ...     Point(1).x = 2
    ... except AttributeError as error:
    ...     print(error)
    a Point cannot be changed: make another one
    """

    def _freeze(self) -> None:
        self.__dict__["_frozen"] = True

    def __setattr__(self, name: str, value: object) -> None:
        if "_frozen" in self.__dict__:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: make another one")
        super().__setattr__(name, value)
