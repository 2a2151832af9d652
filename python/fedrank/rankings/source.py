"""What rankings were read from, how, and what was left out or completed on the way."""

from collections.abc import Iterable, Sequence
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
        Number of rankings read; parts of the rankings of a file keep the number of the whole, and
        ``unused`` says how many they lack.
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
    unused : int
        Number of these rankings that are not among those described.
    repeated : int
        Number of rankings described that are repetitions of others.
    unread : int
        Number of rankings that are not from a file, and were joined to these.

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
    unused: int = 0
    repeated: int = 0
    unread: int = 0

    @property
    def used(self) -> int:
        """Number of rankings described."""
        return self.rankings + self.unread - self.unused + self.repeated

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
        if self.unread:
            parts.append(f"{counted(self.unread, 'ranking')} more without a file")
        if self.repeated:
            left = f", {self.unused:,} not used" if self.unused else ""
            parts.append(f"{counted(self.used, 'ranking')} used: {self.repeated:,} repeated{left}")
        elif self.unused:
            its = "these" if self.unread else "its" if one else "their"
            read = counted(self.rankings + self.unread, "ranking")
            parts.append(f"{self.used:,} of {its} {read} used")
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

    def of(self, rankings: int) -> Self:
        """Describe so many rankings, which were selected from those described.

        Examples
        --------
        >>> read = Source(("v.soc",), 9, 3, "orders", "orders, best first")
        >>> print(read.of(2))
        v.soc: 9 rankings of 3 items (orders, best first; 2 of its 9 rankings used)
        >>> print(read.of(12))
        v.soc: 9 rankings of 3 items (orders, best first; 12 rankings used: 3 repeated)
        """
        more = rankings - self.used
        return replace(
            self, unused=self.unused + max(0, -more), repeated=self.repeated + max(0, more)
        )

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
    def merge(parts: "Iterable[tuple[Source | None, int]]") -> "Source | None":
        """Describe several readings in one line; the files of parts of one reading count once.

        Parameters
        ----------
        parts : iterable of (Source or None, int)
            What each part was read from, and how many rankings it has. Parts of one reading
            share the object, unless they were completed one by one.

        Returns
        -------
        source : Source or None
            None if no part is from a file.

        Examples
        --------
        >>> one = Source(("a.csv",), 3, 4, "ranks", "ranks, 1 = best")
        >>> other = Source(("b.csv",), 2, 4, "ranks", "ranks, 1 = best")
        >>> print(Source.merge([(one, 3), (other, 1), (other, 1)]))
        2 files: 5 rankings of 4 items (ranks, 1 = best)
        >>> print(Source.merge([(one, 2), (None, 7)]))
        a.csv: 3 rankings of 4 items (ranks, 1 = best; 7 rankings more without a file; 9 of these 10
        rankings used)
        """
        given = list(parts)
        known = [(source, size) for source, size in given if source is not None]
        if not known:
            return None
        held: dict[Source, list[tuple[Source, int]]] = {}
        for source, size in known:
            whole = replace(source, completed=0, unused=0, repeated=0, unread=0)
            held.setdefault(whole, []).append((source, size))
        files = [together(whole, each) for whole, each in held.items()]
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
            completed=sum(source.completed for source in files),
            ranklike=all(source.ranklike for source in files),
            unused=sum(source.unused for source in files),
            repeated=sum(source.repeated for source in files),
            unread=sum(source.unread for source in files)
            + sum(size for source, size in given if source is None),
        )


def together(whole: Source, parts: Sequence[tuple[Source, int]]) -> Source:
    """Describe parts that were read from the same files in the same way."""
    distinct = list({id(source): source for source, _ in parts}.values())
    if len(parts) == 1:
        return distinct[0].of(parts[0][1])
    completed = sum(source.completed for source in distinct)
    unread = sum(source.unread for source in distinct)
    return replace(whole, completed=completed, unread=unread).of(sum(size for _, size in parts))


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
