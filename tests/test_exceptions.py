"""Messages have the lines that we write, and no others."""

from fedrank.exceptions import Code, InputError, RefusalError

FORGED = "x\n2026-01-01 all is well\x1b[8m"


def test_no_part_of_an_input_error_adds_a_line():
    error = InputError(
        FORGED,
        file=FORGED,
        client=FORGED,
        remedy=FORGED,
        shown=[FORGED],
        choices=[(FORGED, {"id_columns": [FORGED]}), ("another", {"best": FORGED})],
    )
    for text in str(error), error.message(FORGED, lambda options: str(options) + FORGED):
        lines = text.split("\n")
        assert all(line.isprintable() for line in lines)
        assert len(lines) == 1 + 1 + 1 + 2  # problem, row, head of the choices, choices


def test_the_detail_of_a_refusal_is_one_line():
    assert str(RefusalError(Code.DATA, FORGED)).isprintable()
    assert RefusalError(Code.DATA, "row 7", logged=FORGED).logged.isprintable()
    assert RefusalError(Code.DATA, "row 7", ["  a row"]).logged == "row 7"
