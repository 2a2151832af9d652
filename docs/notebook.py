"""Write a tutorial as a notebook, with its pictures: `docs/notebook.py docs/tutorials/genes.md`.

The page is the only source. Its examples are doctests, so the notebook shows the outputs that the
tests have checked, and nothing of the machine that wrote it.
"""

import contextlib
import doctest
import json
import re
import sys
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(page: str) -> str:
    """Return the notebook of a page, as JSON."""
    cells: list[dict[str, Any]] = []
    # The parts are text and examples in turn.
    for number, part in enumerate(FENCE.split(page)):
        if number % 2:
            cells += code_cells(part)
        elif part.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": lines(part.strip())})
    executed = 0
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
        if cell["cell_type"] == "code":
            executed += 1
            cell["execution_count"] = executed
            for output in cell["outputs"]:
                output["execution_count"] = executed
    whole = {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def draw(page: str) -> None:
    """Run the examples of a page, which save its pictures in the current folder."""
    examples = doctest.DocTestParser().get_examples("".join(FENCE.findall(page)))
    exec("".join(example.source for example in examples), {})


def code_cells(block: str) -> list[dict[str, Any]]:
    """Return a block's cells. A notebook shows a cell's last value, so each value ends a cell."""
    cells = []
    sources: list[str] = []
    examples = doctest.DocTestParser().get_examples(block)
    end = 0
    for position, example in enumerate(examples, 1):
        if sources and example.lineno > end:
            sources.append("\n")  # keep a blank line
        sources.append(example.source)
        end = example.lineno + example.source.count("\n") + example.want.count("\n")
        if example.want or position == len(examples):
            cells.append(
                {
                    "cell_type": "code",
                    "metadata": {},
                    "outputs": values(example.want),
                    "source": lines("".join(sources).rstrip("\n")),
                }
            )
            sources = []
    return cells


def values(want: str) -> list[dict[str, Any]]:
    """Return the outputs of a cell: the expected value, if there is one."""
    if not want:
        return []
    data = {"text/plain": lines(want.rstrip("\n"))}
    return [{"data": data, "metadata": {}, "output_type": "execute_result"}]


def lines(text: str) -> list[str]:
    """Split text into lines, as notebooks store them."""
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        source = Path(name)
        text = source.read_text(encoding="utf-8")
        source.with_suffix(".ipynb").write_text(notebook(text), encoding="utf-8", newline="\n")
        with contextlib.chdir(source.parent):
            draw(text)
