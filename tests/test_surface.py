"""The public surface: few names, lazily loaded, and nothing heavy behind `import fedrank`."""

import inspect

import pytest

import fedrank as fr

MODULES = {
    *("agent", "data", "golomb", "planning", "plots", "schemes", "secagg", "superposition"),
    *("theory", "transport"),
}


def test_the_public_names_are_at_most_thirty_and_all_that_dir_shows():
    assert len(fr.__all__) <= 30
    assert dir(fr) == sorted(fr.__all__)
    assert fr.__version__
    assert "__version__" not in fr.__all__
    for name in fr.__all__:
        assert inspect.ismodule(getattr(fr, name)) == (name in MODULES), name


def test_importing_fedrank_loads_neither_extras_nor_the_command_line(python):
    heavy = ("rich", "typer", "matplotlib", "polars", "flwr", "pandas", "pooch")
    code = (
        "import sys, fedrank\n"
        f"print([name for name in {heavy!r} if name in sys.modules])\n"
        "print('fedrank.data' in sys.modules, 'fedrank.agent' in sys.modules)\n"
        "fedrank.data.read, fedrank.agent.Agent\n"  # loaded when first used
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\nFalse False\n"


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'fedrank' has no attribute 'nonsense'"):
        _ = fr.nonsense
