"""The data sets of the paper, and a few from PrefLib: what they are and where to get them."""

from dataclasses import dataclass

from fedrank.exceptions import InputError


@dataclass(frozen=True)
class File:
    """A file of a data set, with its size and checksum.

    Attributes
    ----------
    name : str
        File name.
    size : int
        Size in bytes.
    sha256 : str
        SHA-256, in hexadecimal.
    urls : tuple of str
        Public addresses, in the order to try them; empty if the file must be made by hand.
    members : tuple of str
        Members to unpack from this archive, for the readers.
    text_only : bool
        Whether size and SHA-256 are those of the text inside the gzip, because compressed bytes
        depend on the program.
    origin : str
        Source of the checksum, or how to make the file, where this is not obvious.

    Examples
    --------
    >>> CATALOGUE["maine"].files[0].size
    171025
    """

    name: str
    size: int
    sha256: str
    urls: tuple[str, ...]
    members: tuple[str, ...] = ()
    text_only: bool = False
    origin: str = ""


@dataclass(frozen=True)
class DataSet:
    """An entry of the catalogue.

    Attributes
    ----------
    name : str
        Name to pass to `fetch`.
    title : str
        Description in one line.
    rankings : int
        Number of rankings that the reader returns.
    items : int
        Number of items.
    folder : str
        Folder of the files, inside the data folder.
    files : tuple of File
        The files.
    home : str
        Web page of the data set.
    citation : str
        What to cite.
    licence : str
        What the licence allows.
    reading : str
        The call that reads the files.
    note : str
        Further information, above all how it differs from the data of the paper.

    Examples
    --------
    >>> jester = CATALOGUE["jester"]
    >>> jester.rankings, jester.items
    (14116, 100)
    """

    name: str
    title: str
    rankings: int
    items: int
    folder: str
    files: tuple[File, ...]
    home: str
    citation: str
    licence: str
    reading: str
    note: str = ""


def raw(repository: str, commit: str, path: str) -> str:
    """Return the address of a file on GitHub at a commit, which never changes.

    Examples
    --------
    >>> raw("a/b", "0123", "c d.csv")
    'https://raw.githubusercontent.com/a/b/0123/c%20d.csv'
    """
    return "/".join(
        ("https://raw.githubusercontent.com", repository, commit, path.replace(" ", "%20"))
    )


def preflib(folder: str, name: str, commit: str, size: int, sha256: str) -> File:
    """Describe a file of PrefLib, with its addresses in the repository and on the site.

    Examples
    --------
    >>> preflib("00016 - aspen", "a.toi", "0" * 40, 1, "").urls[1]
    'https://www.preflib.org/static/data/aspen/a.toi'
    """
    path = f"datasets/{folder}/{name}"
    site = f"https://www.preflib.org/static/data/{folder.split(' - ')[1]}/{name}"
    return File(name, size, sha256, (raw("PrefLib/PrefLib-Data", commit, path), site))


def jester(part: int, size: int, sha256: str) -> File:
    """Describe a part of Jester's data set 1, at its home and in the Internet Archive."""
    name = f"jester_dataset_1_{part}.zip"
    home = f"https://eigentaste.berkeley.edu/dataset/{name}"
    archive = f"https://web.archive.org/web/20260301101947id_/{home}"
    return File(name, size, sha256, (home, archive))


LANDMARK_GENES = File(
    "landmark_genes.txt",
    77_268,
    "f6b128b80052f34718a4eca3dcc2b327d59ec986f463a9d6f7184219fc289050",
    (
        raw(
            "SCSE-Biomedical-Computing-Group/XGDP",
            "97dc610213874abbc2f2bef52b0ce01d25ac6586",
            "data/landmark_genes.txt",
        ),
    ),
    origin="an export of the public CLUE/LINCS list of the 978 L1000 landmark genes",
)
PREFLIB = "Mattei & Walsh, PrefLib: A Library for Preferences, ADT 2013"
PREFLIB_LICENCE = "PrefLib's repository is under the GPL-3; cite PrefLib and the donor"
L1000 = "Subramanian et al., A Next Generation Connectivity Map, Cell 171(6), 2017"
TCGA_LICENCE = (
    "TCGA level-3 expression is open-access (NCI Genomic Data Commons); "
    "the gene list's repository states no licence"
)

SETS = (
    DataSet(
        name="sushi",
        title="Orders of ten kinds of sushi, by people of ten regions of Japan",
        rankings=5000,
        items=10,
        folder="sushi",
        files=(
            File(
                "sushi3-2016.zip",
                222_176,
                "4f8bbf3acd6f796cb3d0add6c73c394664982c57d3b48e75e92014e5278558a8",
                ("https://www.kamishima.net/asset/sushi3-2016.zip",),
                members=("sushi3a.5000.10.order", "sushi3.udata"),
                origin="size and SHA-256 as one other project published them (hyj55/mallowsmodel "
                "on GitHub, data/sources.json, 2026); the home itself gives none",
            ),
        ),
        home="https://www.kamishima.net/sushi/",
        citation="Kamishima, Nantonac Collaborative Filtering: Recommendation Based on Order "
        "Responses, KDD 2003",
        licence="any research purpose; must not be passed on without the author's permission",
        reading="read_sushi('sushi3a.5000.10.order', 'sushi3.udata')",
        note="4,981 of the 5,000 people are in regions 0..9, the clients; region 10 is dropped",
    ),
    DataSet(
        name="jester",
        title="Ratings of 100 jokes, of those who rated them all (data set 1, parts 1 and 2)",
        rankings=14_116,
        items=100,
        folder="jester",
        files=(
            jester(
                1, 4_171_628, "cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615"
            ),
            jester(
                2, 3_924_205, "4d312fd824d8c8cb2c9c952a7b1fb7c00d1f5fd3ece370f7285aa701d371748b"
            ),
        ),
        home="https://eigentaste.berkeley.edu/dataset/",
        citation="Goldberg, Roeder, Gupta & Perkins, Eigentaste: A Constant Time Collaborative "
        "Filtering Algorithm, Information Retrieval 4(2), 2001",
        licence="free for research use when the paper above is cited",
        reading="read_jester(['jester_dataset_1_1.zip', 'jester_dataset_1_2.zip'])",
        note="24,983 + 23,500 people, of whom 7,200 + 6,916 rated every joke",
    ),
    DataSet(
        name="maine",
        title="Ballots of Maine's Democratic primary for governor, 12 June 2018",
        rankings=126_247,
        items=8,
        folder="maine",
        files=(
            File(
                "Maine_06122018_DemocraticPrimaryforGovernor.csv",
                171_025,
                "b781d4ef54c1b762f3261299486ff1f181d79cd117d0cf68ed16a189f7066b83",
                (
                    raw(
                        "math-democracy/rcv_analysis",
                        "f4a1c6eef66a1cbef5caf0bc2879cc2da9c27f19",
                        "raw_data/preference_profiles/america/Maine/"
                        "Maine_06122018_DemocraticPrimaryforGovernor.csv",
                    ),
                ),
            ),
        ),
        home="https://github.com/math-democracy/rcv_analysis",
        citation="Maine Secretary of State, cast vote records of the primary of 12 June 2018; "
        "profile by the math-democracy project",
        licence="public election records; the profile's repository states no licence",
        reading="read_ballots('Maine_06122018_DemocraticPrimaryforGovernor.csv')",
        note="stands in for the paper's 132,251 ballots: a BLT profile of the 126,247 ballots "
        "that are not blank, 10,113 of them different, without precincts; 'writein' is a candidate",
    ),
    DataSet(
        name="luad",
        title="Expression of 978 landmark genes in lung adenocarcinoma (TCGA-LUAD)",
        rankings=533,
        items=978,
        folder="tcga",
        files=(
            LANDMARK_GENES,
            File(
                "LUAD_fpkm_landmark978.tsv.gz",
                7_283_717,
                "47ef53109946dd7d7ce369083510962e27c8da27e09a688455d198e6520d50ab",
                (),
                text_only=True,
                origin="from TCGA-LUAD's HTSeq-FPKM files (592 *.FPKM.txt.gz, as in "
                "ceccaroni1884368/DE_TCGA-LUAD on GitHub at bb56765e, GDCdata/) take the 533 "
                "primary tumours, sorted by GDC file id; a line each: the file's name without "
                ".FPKM.txt.gz, then the value strings of the landmark genes in the list's order; "
                "header 'file' and the symbols; tab-separated, gzipped",
            ),
        ),
        home="https://portal.gdc.cancer.gov/projects/TCGA-LUAD",
        citation="The Cancer Genome Atlas Research Network, Comprehensive Molecular Profiling of "
        f"Lung Adenocarcinoma, Nature 511, 2014; {L1000}",
        licence=TCGA_LICENCE,
        reading="read_expression('LUAD_fpkm_landmark978.tsv.gz')",
        note="stands in for the paper's 501 patients: 533 tumour aliquots, several of some "
        "patients, of whom 476 are tumours by exclusion; the table is derived and has no home",
    ),
    DataSet(
        name="lusc",
        title="Expression of 926 landmark genes in lung squamous cell carcinoma (TCGA-LUSC)",
        rankings=35,
        items=926,
        folder="tcga",
        files=(
            LANDMARK_GENES,
            File(
                "LUSC_rsem_landmark926_35tumours.tsv.gz",
                168_868,
                "7bd1221c4b3085594f55d389604b26e86e5d863370e85ee742c7d838cdf30872",
                (),
                text_only=True,
                origin="from LUSC_PreprocessedData_paired_tumorPurity.rda (ELELAB/"
                "LUAD_LUSC_TCGA_comparison on GitHub at f0dd3984) take the 35 tumours and the "
                "926 landmark genes in it; one line per sample, in its order: barcode, then the "
                "counts in the list's order; header 'sample' and the symbols; tab-separated, "
                "gzipped",
            ),
        ),
        home="https://portal.gdc.cancer.gov/projects/TCGA-LUSC",
        citation="The Cancer Genome Atlas Research Network, Comprehensive Genomic "
        f"Characterization of Squamous Cell Lung Cancers, Nature 489, 2012; {L1000}",
        licence=f"{TCGA_LICENCE}; the .rda is under the GPL-3",
        reading="read_expression('LUSC_rsem_landmark926_35tumours.tsv.gz')",
        note="a small stand-in for the paper's 491 patients and 978 genes: 35 tumours, 926 "
        "genes, RSEM counts that gene lengths are not taken out of; derived, without a home",
    ),
    DataSet(
        name="debian",
        title="Votes for the Debian project leader of 2010 (PrefLib 00002-00000006)",
        rankings=436,
        items=5,
        folder="preflib",
        files=(
            preflib(
                "00002 - debian",
                "00002-00000006.soi",
                "34494be52d14f49f6531d0f67fec4c16daa1ac3f",
                1650,
                "7f63ad502229ca57a2133d279fa524f3b7aa965d47c597341ff5e9ab61967309",
            ),
            preflib(
                "00002 - debian",
                "00002-00000006.toc",
                "34494be52d14f49f6531d0f67fec4c16daa1ac3f",
                1705,
                "a3cd2f336433ad0ee040ba2168f17bb0eea04b3163cc69e26ef6b5f744cacbb9",
            ),
        ),
        home="https://www.preflib.org/dataset/00002",
        citation=PREFLIB,
        licence=PREFLIB_LICENCE,
        reading="read_preflib('00002-00000006.soi')",
        note="not of the paper; the toc is the soi with the unranked tied last",
    ),
    DataSet(
        name="netflix",
        title="Orders of four films, from ratings (PrefLib 00004-00000158)",
        rankings=355,
        items=4,
        folder="preflib",
        files=(
            preflib(
                "00004 - netflix",
                "00004-00000158.soc",
                "34494be52d14f49f6531d0f67fec4c16daa1ac3f",
                699,
                "7509caabc44add267dc82999af4c55616dbd320dc3430cf6c3b7afd1e9b867fe",
            ),
        ),
        home="https://www.preflib.org/dataset/00004",
        citation=f"Bennett & Lanning, The Netflix Prize, KDD Cup 2007; {PREFLIB}",
        licence=PREFLIB_LICENCE,
        reading="read_preflib('00004-00000158.soc')",
        note="not of the paper; two of its 24 lines count for nobody",
    ),
    DataSet(
        name="aspen",
        title="Ballots for the mayor of Aspen, 2009 (PrefLib 00016-00000002)",
        rankings=2527,
        items=5,
        folder="preflib",
        files=(
            preflib(
                "00016 - aspen",
                "00016-00000002.toi",
                "aaadda8ea0daff6bfed7435192d943a134eb37ec",
                1632,
                "99c259e173fd21be0b6e9ef92503e8a28b5825eee62a02183370890be97c82cd",
            ),
        ),
        home="https://www.preflib.org/dataset/00016",
        citation=f"O'Neill, OpenSTV; {PREFLIB}",
        licence=PREFLIB_LICENCE,
        reading="read_preflib('00016-00000002.toi')",
        note="not of the paper; incomplete, with ties",
    ),
)
CATALOGUE = {entry.name: entry for entry in SETS}
"""All data sets, by name."""


def data_set(name: str) -> DataSet:
    """Return the entry of a name; an unknown name is an error that lists the names.

    Examples
    --------
    >>> data_set("maine").items
    8
    """
    if name not in CATALOGUE:
        raise InputError(
            f"there is no data set {name!r}; the data sets are {', '.join(CATALOGUE)}", value=name
        )
    return CATALOGUE[name]
