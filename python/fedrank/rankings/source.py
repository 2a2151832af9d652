"""What rankings were read from, how, and what was left out or completed on the way."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Self

from fedrank._text import noun


@dataclass(frozen=True)
class Note:
    """Something that a reader left out or changed, and how often.

    Parameters
    ----------
    count : int
        How often.
    noun : str
        What is counted, in the singular.
    text : str
        The note; ``{}`` stands for the count and the noun.

    Examples
    --------
    >>> print(Note(5488, "blank ballot", "{} left out"))
    5,488 blank ballots left out
    >>> print(Note(1, "empty cell", "{}: these items count as last"))
    1 empty cell: these items count as last
    """

    count: int
    noun: str
    text: str

    def __str__(self) -> str:
        return self.text.format(counted(self.count, self.noun))


@dataclass(frozen=True)
class Source:
    """What was read, in words; ``str(source)`` is one line.

    Parameters
    ----------
    files : tuple of str
        The files, as their reader was called with them.
    rankings : int
        Number of rankings read. Parts of the rankings of a file keep the number of the whole.
    items : int
        Number of items.
    kind : {"ranks", "scores", "orders", "ballots"}
        What the files contain.
    how : str
        How it was read, such as "ranks, 1 = best".
    skipped : tuple of str
        Columns that are no items, such as ids.
    notes : tuple of Note
        What was left out or changed, counted.
    completed : int
        Number of rankings whose ties and gaps were ordered at random.
    ranklike : bool
        Whether the numbers of every ranking look like ranks, also if some are tied.

    Examples
    --------
    >>> blank = Note(5488, "blank ballot", "{} left out")
    >>> print(Source(("votes.csv",), 45357, 4, "ranks", "ranks, 1 = best", ("id",), (blank,)))
    votes.csv: 45,357 rankings of 4 items (ranks, 1 = best; column id skipped; 5,488 blank ballots
    left out)
    """

    files: tuple[str, ...]
    rankings: int
    items: int
    kind: str
    how: str
    skipped: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    completed: int = 0
    ranklike: bool = False

    def __str__(self) -> str:
        parts = [self.how]
        if self.skipped:
            word = noun(len(self.skipped), "column")
            parts.append(f"{word} {', '.join(self.skipped)} skipped")
        parts += [str(note) for note in self.notes]
        if self.completed:
            rankings = counted(self.completed, "ranking")
            parts.append(f"ties and gaps of {rankings} completed at random")
        one = len(self.files) == 1
        name = PurePath(self.files[0]).name if one else counted(len(self.files), "file")
        read = f"{counted(self.rankings, 'ranking')} of {counted(self.items, 'item')}"
        return f"{name}: {read} ({'; '.join(parts)})"

    def complete(self, rankings: int) -> Self:
        """Add a number of rankings whose ties and gaps were ordered at random.

        Examples
        --------
        >>> read = Source(("v.soi",), 9, 3, "orders", "orders, best first")
        >>> print(read.complete(4))
        v.soi: 9 rankings of 3 items (orders, best first; ties and gaps of 4 rankings completed at
        random)
        """
        return replace(self, completed=self.completed + rankings)

    def note(self, note: Note) -> Self:
        """Add a note, if it counts anything.

        Examples
        --------
        >>> read = Source(("v.soc",), 9, 3, "orders", "orders, best first")
        >>> print(read.note(Note(1, "item", "{} left out")))
        v.soc: 9 rankings of 3 items (orders, best first; 1 item left out)
        """
        return replace(self, notes=(*self.notes, note)) if note.count else self

    @staticmethod
    def merge(sources: "Iterable[Source | None]") -> "Source | None":
        """Describe several readings in one line; parts of one file count once.

        Parameters
        ----------
        sources : iterable of Source or None
            What the parts were read from.

        Returns
        -------
        source : Source or None
            None if it is not known of every part.

        Examples
        --------
        >>> one = Source(("a.csv",), 3, 4, "ranks", "ranks, 1 = best")
        >>> other = Source(("b.csv",), 2, 4, "ranks", "ranks, 1 = best")
        >>> print(Source.merge([one, other, other]))
        2 files: 5 rankings of 4 items (ranks, 1 = best)
        """
        given = list(sources)
        known = [source for source in given if source is not None]
        if not known or len(known) < len(given):
            return None
        # Parts share the object of their file, unless they were completed one by one.
        distinct = list({id(source): source for source in known}.values())
        files: dict[Source, int] = {}
        for source in distinct:
            read = replace(source, completed=0)
            files[read] = files.get(read, 0) + source.completed
        notes: dict[tuple[str, str], int] = {}
        for source in files:
            for note in source.notes:
                key = (note.noun, note.text)
                notes[key] = notes.get(key, 0) + note.count
        return Source(
            files=unique(file for source in files for file in source.files),
            rankings=sum(source.rankings for source in files),
            items=max(source.items for source in files),
            kind=" and ".join(unique(source.kind for source in files)),
            how=" or ".join(unique(source.how for source in files)),
            skipped=unique(column for source in files for column in source.skipped),
            notes=tuple(Note(count, *words) for words, count in notes.items()),
            completed=sum(files.values()),
            ranklike=all(source.ranklike for source in files),
        )


def counted(count: int, one: str) -> str:
    """Return a count with its noun for the line of a source, with a comma every three digits.

    Examples
    --------
    >>> counted(1234, "ranking"), counted(1, "item")
    ('1,234 rankings', '1 item')
    """
    return f"{count:,} {noun(count, one)}"


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """Return the different words, in order of first appearance.

    Examples
    --------
    >>> unique(["b", "a", "b"])
    ('b', 'a')
    """
    return tuple(dict.fromkeys(words))
