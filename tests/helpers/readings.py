"""Files that must never be read reversed, or with an id as an item."""

from typing import NamedTuple


class Case(NamedTuple):
    """A file, options that declare how it is read, and its true orders.

    The orders are written best first, as in "a b c / c a=b", where ``=`` joins tied items.
    A certain file is also read without the options. Any other one is refused without them.
    """

    name: str
    text: str
    options: dict
    ranked: str
    certain: bool = False

    @property
    def orders(self):
        """The true orders: lists of labels, best first, in which lists are ties."""
        return [[labels(place) for place in order.split()] for order in self.ranked.split("/")]

    @property
    def counted(self):
        """How many orders there are, in words."""
        number = len(self.orders)
        return f"{number} ranking{'s' if number > 1 else ''}"

    @property
    def by_region(self):
        """The same file with a last column that names the client of each row."""
        mark = ";" if ";" in self.text else ","
        header, *rows = self.text.splitlines()
        named = [f"{row}{mark}{'NS'[i % 2]}" for i, row in enumerate(rows)]
        return "\n".join([f"{header}{mark}region", *named]) + "\n"


def labels(place):
    """The label at a place of an order, or the list of labels that are tied there."""
    found = [int(label) if label.isdigit() else label for label in place.split("=")]
    return found if len(found) > 1 else found[0]


RANKS = {"layout": "ranks"}
LOW = {"layout": "scores", "best": "low"}
HIGH = {"layout": "scores", "best": "high"}

CASES = [
    Case(
        "numeric-ids",
        "id,P1,P2,P3,P4\n17,1,2,3,4\n18,2,1,3,4\n19,1,2,4,3\n",
        {"id_columns": ["id"]},
        "P1 P2 P3 P4 / P2 P1 P3 P4 / P1 P2 P4 P3",
    ),
    Case(
        "small-numeric-ids",
        "id,P1,P2,P3,P4\n5,1,2,3,4\n5,2,1,4,3\n",
        {"id_columns": ["id"]},
        "P1 P2 P3 P4 / P2 P1 P4 P3",
    ),
    Case("text-ids", "patient,a,b,c\np1,1,2,3\np2,3,1,2\n", {}, "a b c / b c a", certain=True),
    Case(
        "genes-in-rows",
        "gene,h1,h2,h3\nTP53,1,1,2\nEGFR,2,3,1\nMYC,3,2,3\nKRAS,4,4,4\n",
        {},
        "TP53 EGFR MYC KRAS / TP53 MYC EGFR KRAS / EGFR TP53 MYC KRAS",
        certain=True,
    ),
    Case(
        "square-with-names",  # the rows and the columns are permutations
        "gene,h1,h2,h3\nA,1,2,3\nB,2,3,1\nC,3,1,2\n",
        {"items_in": "rows"},
        "A B C / C A B / B C A",
    ),
    Case("tied-ranks", "a,b,c\n1,1,3\n1,2,3\n", RANKS, "a=b c / a b c"),
    Case("mid-ranks", "a,b,c\n3,1.5,1.5\n1,2,3\n", RANKS, "b=c a / a b c"),
    Case("p-values", "a,b,c\n0.04,0.9,0.3\n0.01,0.2,0.5\n", LOW, "a c b / a b c"),
    Case(
        "race-times",
        "runner,heat1,heat2\nann,61,59\nbob,58,60\ncy,70,71\n",
        LOW | {"items_in": "rows"},
        "bob ann cy / ann bob cy",
    ),
    Case("orders-of-numbers", "1st,2nd,3rd\n3,1,2\n2,3,1\n", {"layout": "orders"}, "3 1 2 / 2 3 1"),
    Case("odd-row-first", "a,b,c\n2,2,1\n1,2,3\n3,1,2\n", RANKS, "c a=b / a b c / b c a"),
    Case("odd-row-last", "a,b,c\n1,2,3\n3,1,2\n2,2,1\n", RANKS, "a b c / b c a / c a=b"),
    Case(
        "no-header",
        "3,1,2\n1,2,3\n2,1,3\n",
        {"layout": "orders", "header": False},
        "3 1 2 / 1 2 3 / 2 1 3",
    ),
    Case(
        "decimal-commas", "a;b;c\n0,5;0,75;0,1\n1;2;3\n", HIGH | {"decimal": ","}, "b a c / c b a"
    ),
    Case(
        "long",
        "voter,item,score\n1,a,2.5\n1,b,1\n2,b,9\n2,a,3\n",
        {"layout": "long", "best": "high"},
        "a b / b a",
    ),
    Case(
        "counted-rows",
        "x,a,b,c\n1,7,8,9\n2,9,8,7\n3,7,9,8\n",
        HIGH | {"id_columns": ["x"]},
        "c b a / a b c / b c a",
    ),
    Case(
        "orders-with-ids",
        "voter,1st,2nd\nv1,ann,bob\nv2,bob,ann\n",
        {"id_columns": ["voter"]},
        "ann bob / bob ann",
    ),
    Case(
        "ranks-below-positions",
        "gene,rank1,rank2,rank3\nTP53,1,2,1\nBRCA,2,1,3\nKRAS,3,3,2\n",
        RANKS,
        "TP53 BRCA KRAS / BRCA TP53 KRAS / TP53 KRAS BRCA",
    ),
    Case(
        "ranks-below-ballot-columns",
        "rank1,rank2,rank3\n1,2,3\n3,1,2\n",
        RANKS,
        "rank1 rank2 rank3 / rank2 rank3 rank1",
    ),
    Case(
        "ranks-below-directions",
        "best,middle,worst\n1,2,3\n3,1,2\n",
        RANKS,
        "best middle worst / middle worst best",
    ),
    Case(
        "orders-below-directions",
        "winner,runner-up\n2,1\n1,2\n2,1\n",
        {"layout": "orders"},
        "2 1 / 1 2 / 2 1",
    ),
    Case("comments", "# a table\na,b,c\n1,2,3\n3,1,2\n", {}, "a b c / b c a", certain=True),
    Case(
        "votes-that-look-like-ranks",
        "team,votes\na,3\nb,2\nc,1\n",
        HIGH | {"items_in": "rows"},
        "a b c",
    ),
    Case("one-column-of-ranks", "team,Final place\na,3\nb,2\nc,1\n", {}, "c b a", certain=True),
    Case(
        "counted-rows-last",
        "ann,bob,bib\n61,59,1\n58,60,2\n57,63,3\n",
        HIGH | {"id_columns": ["bib"]},
        "ann bob / bob ann / bob ann",
    ),
    Case(
        "counted-rows-between",
        "ann,bib,bob\n61,17,59\n58,18,60\n57,19,63\n",
        LOW | {"id_columns": ["bib"]},
        "bob ann / ann bob / ann bob",
    ),
    Case(
        "last-by-all",
        "a,b,c,d\n1,2,3,4\n3,1,2,4\n",
        {},
        "a b c d / b c a d",
        certain=True,
    ),
]

ITEMS_IN_ROWS = (
    "genes-in-rows",
    "square-with-names",
    "race-times",
    "ranks-below-positions",
    "votes-that-look-like-ranks",
    "one-column-of-ranks",
)

BY_ROW = [
    case for case in CASES if case.name not in (*ITEMS_IN_ROWS, "long", "no-header", "comments")
]
"""Cases in which a row is a ranking below a header, so that another column can name its client."""
