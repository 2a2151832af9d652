"""What all pictures have in common, and how they are saved."""

import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fedrank as fr
from fedrank import plots
from helpers.drawings import TWO, parties

EVERY = {
    "bump": lambda ax: plots.consensus(range(6), parties(6, 3, 4), ax=ax),
    "heat": lambda ax: plots.consensus(range(40), parties(40, 3, 4), ax=ax),
    "curves": lambda ax: plots.error_curves(TWO, "samples", se="se", ax=ax),
    "sizes": lambda ax: plots.message_sizes([fr.Borda(9, 3), fr.Lehmer(9, 3)], ax=ax),
    "agreement": lambda ax: plots.agreement(parties(6, 4, 3), ax=ax),
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


@every
def test_no_text_is_cut_by_the_edge(draw):
    ax = draw(None)
    figure = ax.figure
    figure.draw_without_rendering()  # lays out
    width, height = figure.canvas.get_width_height()
    box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= width + 1
    assert box.y1 <= height + 1


# save and import


@pytest.mark.parametrize("name", ["picture.gif", "picture", ".png", "picture.PNG.txt"])
def test_an_unknown_suffix_is_refused_before_anything_is_made(name, tmp_path):
    with pytest.raises(ValueError, match=r"should end in one of \.png, \.svg, \.pdf"):
        plots.save(plots.bins(3, 0.5), tmp_path / "folder" / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path):
    with pytest.raises(ValueError, match=r"a\.png: there is no folder .*absent"):
        plots.save(plots.bins(3, 0.5), tmp_path / "absent" / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_figure_of_pyplot_is_saved_and_stays_the_callers(tmp_path):
    figure, ax = plt.subplots()
    plots.bins(3, 0.5, ax=ax)
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
    with pytest.raises(ValueError, match="only Axes and Figures can be saved, not list"):
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
