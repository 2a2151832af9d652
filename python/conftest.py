"""Loads the modules of the package by their names, before pytest runs their examples."""

from contextlib import suppress
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def pytest_collect_file(file_path: Path) -> None:
    """Load a module by its name.

    pytest loads a file whose module it does not find among those loaded. If the module's package
    imports it too, there are two of it then, and an object of one is no instance of the other's
    classes: examples fail, but only if nothing was loaded before them.
    """
    if file_path.suffix == ".py" and file_path.parent != HERE:
        module = file_path.parent if file_path.stem == "__init__" else file_path.with_suffix("")
        with suppress(ImportError):  # which pytest finds too, and reports
            import_module(".".join(module.relative_to(HERE).parts))
