"""What all pictures have in common, and how they are saved."""

import xml.etree.ElementTree as ET
from functools import cache

import matplotlib.pyplot as plt
import nbclient
import nbformat
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fedrank as fr
from fedrank import plots
from fedrank.plots import _style
from helpers.drawings import TWO, parties

LONG = "a hospital whose name is $very_{long}$, ward {0}"


@cache
def small_plan():
    return fr.plan("borda", n=5, phi=0.4, clients=4, rng=0)


def long_names(n, clients, **options):
    """A consensus of items and clients with long names."""
    data = parties(n, clients, 2, items=[LONG.replace("0", str(item)) for item in range(n)])
    names = [LONG.replace("0", str(client)) for client in range(clients)]
    return plots.consensus(range(n), dict(zip(names, data, strict=True)), **options)


EVERY = {
    "bump": lambda ax: plots.consensus(range(6), parties(6, 3, 4), ax=ax),
    "best": lambda ax: plots.consensus(range(40), parties(40, 3, 4), ax=ax),
    "spread": lambda ax: plots.consensus(range(40), parties(40, 9, 4), ax=ax),
    "heat": lambda ax: plots.consensus(range(40), parties(40, 3, 4), ax=ax, top=0),
    "curves": lambda ax: plots.error_curves(TWO, "samples", se="se", ax=ax),
    "sizes": lambda ax: plots.message_sizes([fr.Borda(9, 3), fr.Lehmer(9, 3)], ax=ax),
    "agreement": lambda ax: plots.agreement(parties(6, 4, 3), ax=ax),
    "success": lambda ax: plots.success(small_plan(), ax=ax),
    "bins": lambda ax: plots.bins(6, [0.2, 0.7], ax=ax),
}
every = pytest.mark.parametrize("draw", EVERY.values(), ids=EVERY.keys())


# What all have in common


@every
def test_axes_are_labelled(draw):
    ax = draw(None)
    assert isinstance(ax, Axes)
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@every
def test_the_axes_given_are_drawn_in_and_returned(draw):
    left, right = Figure(layout="constrained").subplots(1, 2)
    assert draw(right) is right
    assert right.has_data()
    assert not left.has_data()


@every
def test_several_axes_are_refused(draw):
    with pytest.raises(ValueError, match="ax must be one matplotlib Axes, not ndarray"):
        draw(Figure().subplots(1, 2))


@every
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_drawn_twice_is_the_same_bytes(draw, suffix, tmp_path):
    for name in "ab":
        plots.save(draw(None), tmp_path / f"{name}.{suffix}")
    first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert first.startswith({"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml"}[suffix])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{suffix}", f"b.{suffix}"]
    if suffix == "png":
        pixels = plt.imread(tmp_path / "a.png")
        assert pixels.min() < pixels.max()  # not a blank sheet
    else:
        assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"
        assert b"<dc:date>" not in first


@every
def test_a_picture_saved_twice_is_the_same_bytes(draw, tmp_path):
    ax = draw(None)
    for name in "ab":
        plots.save(ax, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_pdf_tells_no_time(tmp_path):
    plots.save(plots.bins(3, 0.5), tmp_path / "a.pdf")
    written = (tmp_path / "a.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    assert b"Date" not in written


def test_saving_leaves_the_layout_to_the_figure(tmp_path):
    ax = plots.bins(3, 0.5)
    plots.save(ax, tmp_path / "a.png")
    before = ax.get_position().height
    ax.set_title("two\nlines")
    plots.save(ax, tmp_path / "b.png")
    assert ax.get_position().height < before


HARD = {
    **{name: lambda draw=draw: draw(None) for name, draw in EVERY.items()},
    "long names": lambda: long_names(8, 5),
    "30 items, 25 clients": lambda: long_names(30, 25),
    "3 items": lambda: long_names(3, 2),
    "1 item, 1 client": lambda: plots.consensus([0], [[[0]]]),
    "best, long names": lambda: long_names(31, 8),
    "best 1": lambda: long_names(31, 9, top=1),
    "heat, long names": lambda: long_names(12, 3, top=0),
    "978 items": lambda: plots.consensus(range(978), parties(978, 2, 2)),
    "978 items, heat": lambda: plots.consensus(range(978), parties(978, 2, 2), top=0),
    "agreement, long names": lambda: plots.agreement({LONG: [[0, 1]], LONG + "2": [[1, 0]]}),
    "agreement, 1 client": lambda: plots.agreement([[[0, 1]]]),
    "agreement, 60 clients": lambda: plots.agreement(parties(4, 60, 1)),
    "sizes, 1 item": lambda: plots.message_sizes({LONG: fr.Borda(1, 3)}),
}


@pytest.mark.parametrize("draw", HARD.values(), ids=HARD.keys())
def test_no_text_is_cut_by_the_edge(draw):
    figure = draw().figure
    figure.draw_without_rendering()  # lays out
    width, height = figure.canvas.get_width_height()
    box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= width + 1
    assert box.y1 <= height + 1


def test_labels_are_never_read_as_mathematics():
    for ax in (long_names(8, 5), long_names(40, 5), long_names(8, 5, top=0)):
        ticks = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts]
        ticks += ax.get_legend().get_texts() if ax.get_legend() else []
        named = [text for text in ticks if "$" in text.get_text()]
        assert named
        assert not any(text.get_parse_math() for text in named)


def test_letters_that_the_font_lacks_are_looked_for_in_other_fonts(monkeypatch):
    # STIX stands for a font of a system, since it comes with matplotlib.
    monkeypatch.setattr(_style, "FALLBACK_FONTS", ("absent", "STIXGeneral"))
    ax = plots.consensus([0, 1], [[[0, 1]]], items=["plain", "Ωμέγα"])
    families = {text.get_text(): text.get_fontfamily() for text in ax.texts}
    assert families["plain"] == plt.rcParams["font.family"]
    assert families["Ωμέγα"] == [*plt.rcParams["font.family"], "STIXGeneral"]


# Figures of pyplot


@every
def test_a_picture_is_pyplots_current_figure(draw, tmp_path):
    ax = draw(None)
    assert plt.gcf() is ax.figure
    assert plt.get_fignums() == [ax.figure.number]
    plt.savefig(tmp_path / "a.png", dpi=40)
    pixels = plt.imread(tmp_path / "a.png")
    assert pixels.min() < pixels.max()  # not a blank sheet


@every
def test_pictures_off_screen_are_unknown_to_pyplot(draw):
    with plots.off_screen():
        assert draw(None).has_data()
    assert plt.get_fignums() == []


def test_off_screen_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), plots.off_screen():
        _ = 1 / 0
    plots.bins(3, 0.5)
    assert len(plt.get_fignums()) == 1


SHOW = """
import matplotlib
from fedrank import plots
plots.bins(3, 0.5)
from matplotlib import pyplot as plt
assert len(plt.get_fignums()) == 1
plt.savefig("a.png")
print(matplotlib.get_backend().lower())
"""


def test_no_display_is_needed_and_no_backend_is_forced(python, tmp_path):
    cleared = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "MPLBACKEND": ""}
    in_folder = f"import os; os.chdir({str(tmp_path)!r})\n"
    assert python(in_folder + SHOW, **cleared).stdout.split() == ["agg"]
    assert (tmp_path / "a.png").exists()
    assert python(in_folder + SHOW, **cleared | {"MPLBACKEND": "svg"}).stdout.split() == ["svg"]


def test_off_screen_needs_no_backend(python, tmp_path):
    done = python(
        "import sys\nfrom fedrank import plots\n"
        f"with plots.off_screen():\n    plots.save(plots.bins(3, 0.5), {str(tmp_path / 'a.png')!r})"
        "\nprint('matplotlib.pyplot' in sys.modules)",
        DISPLAY="",
        MPLBACKEND="tkagg",
    )
    assert done.stdout.split() == ["False"]


@pytest.mark.filterwarnings("ignore::Warning")  # of the kernel's machinery, not ours
def test_a_notebook_shows_each_picture_once(tmp_path):
    cells = [
        "import fedrank as fr\nfr.plots.bins(3, 0.5)",  # pyplot is not loaded before
        "ax = fr.plots.bins(4, 0.5)",
        "ax.set_title('later');",
        "fr.plots.bins(5, 0.5)\nfr.plots.bins(6, 0.5);",
        "with fr.plots.off_screen():\n    ax = fr.plots.bins(7, 0.5)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    shown = [
        sum("image/png" in output.get("data", {}) for output in cell["outputs"])
        for cell in notebook["cells"]
    ]
    assert shown == [1, 1, 0, 2, 0]


# save and import


@pytest.mark.parametrize("name", ["picture.gif", "picture", ".png", "picture.PNG.txt"])
def test_an_unknown_suffix_is_refused_before_anything_is_made(name, tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.png, \.svg, \.pdf"):
        plots.save(plots.bins(3, 0.5), tmp_path / "folder" / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path):
    with pytest.raises(ValueError, match=r"a\.png: there is no folder .*absent"):
        plots.save(plots.bins(3, 0.5), tmp_path / "absent" / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_figure_of_pyplot_is_saved_and_stays_the_callers(tmp_path):
    figure, ax = plt.subplots()
    assert plots.bins(3, 0.5, ax=ax).figure is figure
    plots.save(figure, tmp_path / "a.PNG")
    plots.save(ax, str(tmp_path / "b.png"))
    assert (tmp_path / "a.PNG").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert plt.get_fignums() == [figure.number]
    plt.close(figure)


def test_axes_of_a_part_save_the_whole_figure(tmp_path):
    whole = Figure(figsize=(4, 2))
    plots.bins(3, 0.5, ax=whole.subfigures(1, 2)[0].subplots())
    plots.save(whole.axes[0], tmp_path / "a.png")
    assert plt.imread(tmp_path / "a.png").shape[:2] == (300, 600)


def test_only_pictures_are_saved(tmp_path):
    with pytest.raises(ValueError, match="picture must be Axes or a Figure, not list"):
        plots.save([1], tmp_path / "a.png")


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path):
    target = tmp_path / "a.png"
    target.mkdir()
    with pytest.raises(OSError, match=r"a\.png"):
        plots.save(plots.bins(3, 0.5), target)
    assert list(tmp_path.iterdir()) == [target]


def test_saving_changes_no_setting(tmp_path):
    before = dict(plt.rcParams)
    backend = plt.get_backend()
    plots.save(plots.bins(3, 0.5), tmp_path / "a.svg")
    assert dict(plt.rcParams) == before
    assert plt.get_backend() == backend


def test_fedrank_does_not_import_matplotlib(python):
    done = python("import fedrank, sys; print('matplotlib' in sys.modules)")
    assert (done.stdout.strip(), done.returncode) == ("False", 0)


def test_plots_do_not_import_pyplot(python):
    done = python("import fedrank.plots, sys; print('matplotlib.pyplot' in sys.modules)")
    assert (done.stdout.strip(), done.returncode) == ("False", 0)


@pytest.mark.parametrize("kind", ["ImportError", "ValueError"])
def test_without_matplotlib_the_import_says_what_to_install(python, kind):
    done = python(
        "import sys; sys.modules['matplotlib'] = None\n"
        f"try:\n    import fedrank.plots\nexcept {kind} as error:\n    print(error)"
    )
    assert done.stdout.strip() == "pictures need matplotlib: pip install 'fedrank[plot]'"
