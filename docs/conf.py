"""How Sphinx builds the site: `make docs`."""

from sphinx.application import Sphinx

import fedrank

project = "fedrank"
author = "The fedrank developers"
project_copyright = author
version = release = fedrank.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
html_theme = "furo"
html_title = f"fedrank {version}"
html_copy_source = False
html_show_sphinx = False

# Pages are Markdown that also reads well on GitHub, where headings are anchors too.
myst_heading_anchors = 3
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Docstrings are numpydoc and state their types; `name` in one is a link if there is such a name.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# So a module takes one line of a page: what its __all__ names, wherever it was written.
autodoc_default_options = {"members": True, "imported-members": True}
numpydoc_show_class_members = False  # autodoc shows them


def setup(app: Sphinx) -> None:
    """Leave out the blank line that ends an example for doctest: a page shows it as a gap."""
    app.connect("source-read", lambda _app, _page, text: text.append(ends(text.pop())))


def ends(text: str) -> str:
    """End code blocks without a blank line."""
    return text.replace("\n\n```\n", "\n```\n")
