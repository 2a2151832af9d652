"""Check a built site: `python docs/check.py out/site`.

Sphinx complains of much, but not of all: here are links into other pages' headings, files that a
reader's browser would fetch from elsewhere, and public names that no page documents.
"""

import importlib
import re
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}
INERT = ("canonical", "search", "index")


class Page(HTMLParser):
    """Anchors of a page, and what it links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def has(self, fragment: str) -> bool:
        """Tell whether a link may end in this fragment."""
        return unquote(fragment) in self.anchors

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag says."""
        said = {name: value or "" for name, value in attrs}
        self.anchors.update(said[name] for name in ("id", "name") if name in said)
        for name in ("href", "src"):
            if name in said and said.get("rel") not in INERT:
                self.links.append(said[name])
                if (tag, name) in LOADED:
                    self.loads.append(said[name])


def broken_links(site: Path) -> list[str]:
    """Links within the site that lead nowhere, and files that it would load from elsewhere."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in sorted(pages.items()):
        name = path.relative_to(site.resolve())
        found += [f"{name} loads {url}" for url in page.loads if urlsplit(url).netloc]
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{name} links to {link}, which is not there")
            elif url.fragment and target in pages and not pages[target].has(url.fragment):
                found.append(f"{name} links to {link}, and there is no such heading")
    return found


def undocumented(site: Path) -> list[str]:
    """Public names, of the package and of every module documented, that the reference lacks."""
    *_, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)  # four lines, then zlib
    entries = re.findall(r"^(\S+) py:(\w+) ", zlib.decompress(packed).decode(), re.M)
    documented = {name for name, _ in entries}
    found = []
    for module in ("fedrank", *(name for name, role in entries if role == "module")):
        loaded = importlib.import_module(module)
        public = getattr(loaded, "__all__", None)
        if public is None:
            found.append(f"{module} has no __all__, so nobody can tell what is public in it")
        names = [
            value.__name__
            if isinstance(value := getattr(loaded, name), ModuleType)
            # A module may be an attribute under a shorter name than its own.
            else f"{module}.{name}"
            for name in public or ()
        ]
        found += [f"the reference lacks {name}" for name in names if name not in documented]
    return found


if __name__ == "__main__":
    built = Path(sys.argv[1])
    sys.exit("\n".join(broken_links(built) + undocumented(built)) or 0)
