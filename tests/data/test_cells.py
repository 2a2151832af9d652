"""Rows of cells: comments, the separator that a file declares, and the sheets of a workbook."""

import zipfile
from xml.sax.saxutils import escape

import pytest

from fedrank import data
from fedrank.exceptions import InputError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
RANKS = [["a", "b"], [1, 2], [2, 1], [1, 2]]


def cell_xml(place, cell):
    if isinstance(cell, int):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if cell.startswith("#"):
        return f'<c r="{place}" t="e"><f>1/0</f><v>{cell}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'


def workbook(path, sheets, hidden=()):
    """Write a workbook of sheets with names; texts that begin with # are errors."""
    states = {name: ' state="hidden"' if name in hidden else "" for name in sheets}
    listed, related, types = "", "", ""
    with zipfile.ZipFile(path, "w") as book:
        for i, (name, rows) in enumerate(sheets.items(), 1):
            listed += f'<sheet name="{name}" sheetId="{i}"{states[name]} r:id="rId{i}"/>'
            related += (
                f'<Relationship Id="rId{i}" Type="{DOCUMENT}/worksheet" '
                f'Target="worksheets/sheet{i}.xml"/>'
            )
            types += (
                f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
                f'ContentType="{OFFICE}.worksheet+xml"/>'
            )
            lines = "".join(
                f'<row r="{r}">{"".join(cell_xml("ABC"[c] + str(r), x) for c, x in enumerate(row))}'
                "</row>"
                for r, row in enumerate(rows, 1)
            )
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{i}.xml", sheet)
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>{listed}</sheets></workbook>',
        )
        relations = f'<Relationships xmlns="{PACKAGE}/relationships">'
        book.writestr("xl/_rels/workbook.xml.rels", f"{relations}{related}</Relationships>")
        book.writestr(
            "_rels/.rels",
            f'{relations}<Relationship Id="rId1" Type="{DOCUMENT}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Override '
            f'PartName="/xl/workbook.xml" ContentType="{OFFICE}.sheet.main+xml"/>{types}</Types>',
        )
    return path


def test_a_workbook_with_one_sheet_of_data_is_read(tmp_path):
    votes = data.read(workbook(tmp_path / "v.xlsx", {"votes": RANKS, "Sheet2": []}))
    assert votes.ranks.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("sheets", "hidden", "problem"),
    [
        ({"north": RANKS, "south": RANKS}, (), "2 sheets contain data: north, south; save"),
        ({"north": RANKS, "south": RANKS}, ("south",), "2 sheets contain data: north, south"),
        ({"cover": [], "votes": RANKS}, (), "first sheet, cover, is empty, but votes contains"),
        ({"old": RANKS, "new": []}, ("old",), "the first sheet, old, is hidden"),
        ({"v": [["a", "b"], [1, 2], [2, "#DIV/0!"]]}, (), "cell B3 contains the error #DIV/0!"),
        ({"v": [["a", "b"], ["#N/A", 2]]}, (), "cell A2 contains the error #N/A"),
    ],
)
def test_a_workbook_that_hides_something_is_refused(tmp_path, sheets, hidden, problem):
    with pytest.raises(InputError, match=problem):
        data.read(workbook(tmp_path / "v.xlsx", sheets, hidden))


@pytest.mark.parametrize("text", ["#3,1\n1,2\n2,1\n", "1,2\n#2,1\n1,2\n", "1,2\n2,1\n#1,2\n"])
def test_a_comment_that_may_be_a_row_is_refused(write, text):
    with pytest.raises(InputError, match=r"line [234]: the line begins with # and has as many"):
        data.read(write("t.csv", f"a,b\n{text}"))


def test_comments_of_other_widths_are_skipped_everywhere(write):
    text = "# x\na,b\n# one, two, three\n1,2\n# x\n2,1\n1,2\n# the end\n"
    assert data.read(write("t.csv", text)).ranks.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("rows", "blank"),
    [
        ("A\n\nB\n", "; 1 blank ballot left out"),
        ("A\n\n  \n\nB\n", "; 3 blank ballots left out"),
        ('A\n""\nB\n""\n', "; 2 blank ballots left out"),
        ("\nA\nB\n", "; 1 blank ballot left out"),
        ("A\nB\n\n\n", ""),  # empty lines at the end are no rows
    ],
)
def test_blank_ballots_of_one_column_are_counted(write, rows, blank):
    votes = data.read(write("t.csv", f"1st choice\n{rows}"))
    assert str(votes.source) == f"t.csv: 2 rankings of 2 items (ballots, best first{blank})"


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_declared_separator_is_used_and_is_no_row(write, line):
    votes = data.read(write("t.csv", f"{line}\na,1;b\n1;2\n2;1\n1;2\n"))
    assert (votes.items, votes.ranks.tolist()) == (("a,1", "b"), [[0, 1], [1, 0], [0, 1]])
