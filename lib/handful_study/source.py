"""The source files of cards and problems: Markdown with an entry for each heading.

Each entry has a head in YAML::

    # Latency and cost

    ## weights-set-the-floor

    ```yaml
    kind: recall
    section: latency-and-cost#what-a-token-costs
    ```

    What sets the least time of a decode step?

    ### Back

    Reading the weights once.

The second-level heading is the entry's id, which never changes once published.  The text before the
first third-level heading is the entry's text; each third-level heading begins a further part.  A
mistake is reported in one sentence that names file, line and field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")  # what is made of an entry: a card, a problem

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FENCE = re.compile(r"^(`{3,}|~{3,})")


class SourceError(ValueError):
    """A fault in a source file; the sentence names file, line and field."""

    exit_code = 2


@dataclass(frozen=True)
class Part:
    """A part of an entry: its heading, its Markdown, and the line at which it begins.

    The heading is "" for the text before the first heading.
    """

    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Entry:
    """An entry as a file has it, before its fields are interpreted."""

    id: str
    file: str
    line: int
    head: Mapping[str, Any]
    lines: Mapping[str, int]
    parts: tuple[Part, ...]

    def error(self, text: str, field: str = "") -> SourceError:
        """Return an error in this entry: `text` after file, line and field."""
        where = self.lines.get(field, self.line)
        return SourceError(
            f"{self.file}, line {where}: {self.id}: {f'{field}: ' if field else ''}{text}"
        )

    def one_of(self, field: str, allowed: tuple[str, ...]) -> str:
        """Return a field that is required and has to be one of `allowed`."""
        value = self.head.get(field)
        if value not in allowed:
            raise self.error(f"one of {', '.join(allowed)} is allowed; got {value!r}.", field)
        return value


def folder() -> Path:
    """Return the folder of the sources.

    In a checkout it is at the top, in an installed package inside the package.
    """
    inside = Path(__file__).resolve().parent / "exercise_sources"
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / "exercises"


def read_text(text: str, file: str) -> list[Entry]:
    r"""Return the entries of one file.

    >>> text = "# A\n\n## two-times\n\n```yaml\nkind: recall\n```\n\nFront\n\n### Back\n\nBack\n"
    >>> (entry,) = read_text(text, "a.md")
    >>> entry.id, dict(entry.head), [(part.title, part.text, part.line) for part in entry.parts]
    ('two-times', {'kind': 'recall'}, [('', 'Front', 9), ('Back', 'Back', 13)])
    >>> read_text("# A\n\n## Two times\n", "a.md")
    Traceback (most recent call last):
    ...
    handful_study.source.SourceError: a.md, line 3: an id is lower-case words and figures joined
    by hyphens; got 'Two times'.
    """
    found: list[Entry] = []
    fence = ""
    current: tuple[str, int, list] | None = None  # id, line, list of [title, first line, lines]
    blocks: list[tuple] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif (
                match[1][0] == fence[0] and len(match[1]) >= len(fence) and line.strip() == match[1]
            ):
                fence = ""
        title = re.match(r"(#{2,3}) +(.*?)\s*$", line) if not fence else None
        if title and title[1] == "##":
            if not ID.fullmatch(title[2]):
                raise SourceError(
                    f"{file}, line {number}: an id is lower-case words and figures joined by "
                    f"hyphens; got {title[2]!r}."
                )
            current = (title[2], number, [["", number + 1, []]])
            blocks.append(current)
        elif current and title:
            current[2].append([title[2], number + 1, []])
        elif current:
            current[2][-1][2].append(line)
        elif line.startswith("### "):
            raise SourceError(
                f"{file}, line {number}: a part stands before the first entry; an entry begins "
                "with ## and its id."
            )
    for name, line, parts in blocks:
        head, lines, rest, first = _head(parts[0][2], parts[0][1], file, name, line)
        made = [
            _part("", rest, first),
            *(_part(title, body, start) for title, start, body in parts[1:]),
        ]
        found.append(Entry(name, file, line, head, lines, tuple(made)))
    return found


def _part(title: str, lines: list[str], first: int) -> Part:
    while lines and not lines[0].strip():
        lines, first = lines[1:], first + 1
    return Part(title, "\n".join(lines).rstrip(), first)


def _head(lines: list[str], first: int, file: str, name: str, line: int):
    """Return the head, the line of each field, the lines after the head, and their first line."""
    at = next((i for i, text in enumerate(lines) if text.strip()), None)
    if at is None or lines[at].strip() != "```yaml":
        raise SourceError(
            f"{file}, line {line}: {name} has no head; after its heading a block ```yaml is "
            "expected."
        )
    end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == "```"), None)
    if end is None:
        raise SourceError(
            f"{file}, line {first + at}: the head of {name} does not end; close it with ```."
        )
    head, places = fields(
        "\n".join(lines[at + 1 : end]), first + at + 1, file, f"the head of {name}"
    )
    return head, places, lines[end + 1 :], first + end + 1


def fields(text: str, first: int, file: str, whose: str) -> tuple[dict, dict[str, int]]:
    r"""Read YAML fields and the line of each, where the YAML begins at line `first` of a file.

    In the lines, ``wrong.id`` is a field within a field.

    >>> yaml = "kind: value\nwrong:\n  twice: {says: Half.}"
    >>> head, lines = fields(yaml, 7, "a.md", "the head")
    >>> head
    {'kind': 'value', 'wrong': {'twice': {'says': 'Half.'}}}
    >>> lines
    {'kind': 7, 'wrong': 8, 'wrong.twice': 9, 'wrong.twice.says': 9}
    """
    import yaml

    try:
        # Read once, by the parser in C where there is one: every process that asks a problem reads
        # a hundred heads.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        node = loader.get_single_node()
        head = loader.construct_document(node) if node else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise SourceError(
            f"{file}, line {first + (mark.line if mark else 0)}: {whose} is no YAML: "
            f"{getattr(error, 'problem', None) or 'unreadable'}."
        ) from None
    if not isinstance(head, dict) or not all(isinstance(key, str) for key in head):
        raise SourceError(
            f"{file}, line {first}: {whose} has to be lines of the form field: value."
        )
    places: dict[str, int] = {}

    def add_lines(mapping, before: str) -> None:
        for key, value in mapping.value:
            name = f"{before}{key.value}"
            if name in places:
                raise SourceError(
                    f"{file}, line {first + key.start_mark.line}: {whose} has the field {name} "
                    "twice."
                )
            places[name] = first + key.start_mark.line
            if isinstance(value, yaml.MappingNode):
                add_lines(value, f"{name}.")

    add_lines(node, "")
    return head, places


def read_all(
    kind: str, make: Callable[[Entry], Made], where: Path | None = None
) -> dict[str, Made]:
    """Read all entries of one kind ("cards" or "problems") by id, in order of the file names."""
    found: dict[str, Made] = {}
    places: dict[str, Entry] = {}
    base = (where or folder()) / kind
    for path in sorted(base.glob("*.md")):
        for entry in read_text(path.read_text("utf-8"), f"exercises/{kind}/{path.name}"):
            if entry.id in places:
                other = places[entry.id]
                raise entry.error(
                    f"this id stands already in {other.file}, line {other.line}; ids are unique "
                    f"among {kind}."
                )
            places[entry.id] = entry
            found[entry.id] = make(entry)
    return found


def check_fields(entry: Entry, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
    """Refuse fields that are missing or unknown."""
    for field in required:
        if entry.head.get(field) in (None, "", []):
            raise entry.error(f"the field {field} is missing; required are {', '.join(required)}.")
    for field in entry.head:
        if field not in required and field not in optional:
            raise entry.error(
                f"there is no such field; allowed are {', '.join((*required, *optional))}.", field
            )


def check_place(entry: Entry) -> tuple[str, str, str | None]:
    """Return the chapter of an entry, the anchor of its section and its time in the lecture.

    The time is None where the entry has none.
    """
    from handful.nearest import nearest
    from handful.query import QueryError, lecture_seconds

    section = str(entry.head["section"])
    match = re.fullmatch(r"([a-z0-9-]+)#([a-z0-9-]+)", section)
    if not match:
        raise entry.error(
            f"chapter#section is expected, such as latency-and-cost#the-question; got {section!r}.",
            "section",
        )
    chapter, anchor = match.groups()
    known = anchors(chapter)
    if known is not None and anchor not in known:
        near = nearest(anchor, known)
        raise entry.error(
            f"{chapter} has no section {anchor!r}; the nearest are {near}.", "section"
        )
    time = entry.head.get("lecture")
    if time is not None:
        try:
            lecture_seconds(str(time))
        except QueryError as error:
            raise entry.error(f'{error}  Write it in quotation marks: "9:40".', "lecture") from None
    return chapter, anchor, str(time) if time is not None else None


@cache
def anchors(chapter: str) -> dict[str, str] | None:
    """Return the anchor and heading of each section of a chapter.

    The result is None where the book's text is not available.

    >>> anchors("latency-and-cost")["two-things-take-time"]
    'Two things take time'
    """
    book = Path(__file__).resolve().parents[2] / "book"
    if not book.is_dir():
        return None
    path = book / f"{chapter}.md"
    if not path.exists():
        return {}
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1\s*$", "", path.read_text("utf-8"), flags=re.S | re.M)
    return {anchor(title): title for title in re.findall(r"^#{2,3} +(.*?)\s*$", text, flags=re.M)}


def anchor(title: str) -> str:
    """Return the anchor that the book's pages give a heading.

    >>> anchor("Where DualPipe's formula holds"), anchor("What is it for?")
    ('where-dualpipes-formula-holds', 'what-is-it-for')
    """
    plain = re.sub(r"\{\w+\}`([^`]*)`", r"\1", title).lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-")


class ExportError(ValueError):
    """Something that cannot be exported, explained in one sentence."""

    exit_code = 2
