"""Pictures of rankings, errors and messages; needs the extra ``plot`` (matplotlib).

Every function returns the Axes it drew in. Without ``ax=`` it makes a new figure with pyplot, so a
notebook shows the picture once, ``plt.show()`` opens its window, and ``plt.savefig(…)`` writes it.
Nothing opens before ``plt.show()``, unless pyplot is in interactive mode. No display is needed:
where there is none, matplotlib draws with its backend Agg.

`save` writes a picture as a whole file, the same bytes every time. Pyplot keeps its figures until
they are closed (``plt.close(ax.figure)``). Programs that only write files draw in `off_screen`,
whose figures pyplot does not know.

Places are 1-based in all pictures: 1 is the best.
"""

from fedrank.exceptions import MissingExtraError

try:
    import matplotlib  # noqa: F401  checked once, for all files of this folder
except ModuleNotFoundError:
    raise MissingExtraError("pictures need matplotlib: pip install 'fedrank[plot]'") from None

from fedrank.plots._style import off_screen
from fedrank.plots.agreement import agreement
from fedrank.plots.consensus import consensus
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
    "off_screen",
    "save",
    "success",
]
