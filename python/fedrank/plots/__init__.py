"""Pictures of rankings, errors and messages; needs the extra ``plot`` (matplotlib).

Every function returns the Axes it drew in. Without ``ax=`` it makes a figure of its own that
pyplot does not know: there is nothing to close, no display is needed, and no window opens. In a
notebook ``ax.figure`` shows the figure; `save` writes it to a file.
"""

from fedrank.exceptions import MissingExtraError

try:
    import matplotlib  # noqa: F401  checked once, for all files of this folder
except ModuleNotFoundError:
    raise MissingExtraError("pictures need matplotlib: pip install 'fedrank[plot]'") from None

from fedrank.plots.consensus import agreement, consensus
from fedrank.plots.curves import error_curves, success
from fedrank.plots.messages import bins, message_sizes
from fedrank.plots.saving import check_path, save

__all__ = [
    "agreement",
    "bins",
    "check_path",
    "consensus",
    "error_curves",
    "message_sizes",
    "save",
    "success",
]
