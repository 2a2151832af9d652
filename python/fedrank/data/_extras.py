"""Libraries that only some files need."""

import importlib
from typing import Any

from fedrank.exceptions import MissingExtraError


def need(module: str, purpose: str, otherwise: str = "") -> Any:
    """Import a library of the extra ``data``, or say how to install it, or what else to do."""
    try:
        return importlib.import_module(module)
    except ImportError:
        library = module.replace("_", "-")
        alternative = f"; or {otherwise}" if otherwise else ""
        raise MissingExtraError(
            f"{purpose} needs {library}: pip install 'fedrank[data]'{alternative}"
        ) from None
