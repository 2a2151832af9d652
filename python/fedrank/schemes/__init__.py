"""Schemes: how a client's rankings become an integer message, and a sum of them a consensus."""

from fedrank._json import read_json
from fedrank.exceptions import InputError
from fedrank.schemes.base import ConsensusScheme, Scheme, Segment
from fedrank.schemes.borda import Borda
from fedrank.schemes.dispersion import Dispersion, Fit
from fedrank.schemes.lehmer import Lehmer
from fedrank.schemes.refine import Refine

__all__ = [
    "Borda",
    "ConsensusScheme",
    "Dispersion",
    "Fit",
    "Lehmer",
    "Refine",
    "Scheme",
    "Segment",
    "from_json",
]

AnyScheme = Borda | Lehmer | Refine | Dispersion

KINDS: dict[str, type[Borda] | type[Lehmer] | type[Refine] | type[Dispersion]] = {
    "borda": Borda,
    "lehmer": Lehmer,
    "refine": Refine,
    "dispersion": Dispersion,
}


def from_json(text: str) -> AnyScheme:
    """Read a scheme that `Scheme.to_json` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Raises
    ------
    ValueError
        If it is not the JSON of a scheme.

    Examples
    --------
    >>> scheme = Lehmer(n=10, clients=5, low_bits=2)
    >>> from_json(scheme.to_json()) == scheme
    True
    """
    parameters = read_json(text, "scheme")
    named = parameters.get("scheme") if isinstance(parameters, dict) else None
    if not isinstance(named, str) or named not in KINDS:
        raise InputError(
            f'the field "scheme" must be one of {", ".join(KINDS)}, not {named!r}', value=named
        )
    del parameters["scheme"]
    try:
        return KINDS[named](**parameters)
    except TypeError as error:
        raise InputError(
            f"the scheme {named} has a field that is unknown, missing or of a wrong type ({error})",
            value=named,
        ) from None
