"""Split an assignment's source into its parts, and take solutions out of code.

The parts are Markdown, code, model answers and questions.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

from handful_study.source import SourceError

TAGS = ("answer", "explore")
HOLE, BLANK = 'raise NotImplementedError("your code here")', "..."
_FENCE = re.compile(r"^(`{3,}|~{3,})\s*(.*?)\s*$")
_BEGIN, _END, _INLINE = (
    re.compile(r"^(\s*)# solution\s*$"),
    re.compile(r"^\s*# end\s*$"),
    re.compile(r"^(.*\S)\s+# solution\s*$"),
)
_ANSWER, _CLOSED = (
    re.compile(r"^<!--\s*answer:\s*(\S+)\s*-->\s*$"),
    re.compile(r"^<!--\s*end\s*-->\s*$"),
)


@dataclass(frozen=True)
class Piece:
    """One part of a source, and the line at which its text begins.

    `kind` is markdown, code, question (`name` is the question's, `text` its YAML) or model (the
    model answer to the written question `name`); `tag` is that of a code cell: answer, explore or
    nothing.
    """

    kind: str
    text: str
    line: int
    name: str = ""
    tag: str = ""


def split(lines: list[str], first: int, file: str) -> list[Piece]:
    """Return the parts of a source after its head.

    The first of `lines` is line `first` of the file.

    >>> [
    ...     (piece.kind, piece.text, piece.line)
    ...     for piece in split(["Prose.", "", "```{code-cell} ipython3", "x = 1", "```"], 1, "a.md")
    ... ]
    [('markdown', 'Prose.', 1), ('code', 'x = 1', 4)]
    """
    found: list[Piece] = []
    text: list[str] = []  # of the Markdown that is being read
    began = at = 0

    def close() -> None:
        kept = [i for i, line in enumerate(text) if line.strip()]
        if kept:
            markdown = "\n".join(text[kept[0] : kept[-1] + 1])
            found.append(Piece("markdown", markdown, first + began + kept[0]))
        text.clear()

    while at < len(lines):
        if _CLOSED.match(lines[at]):
            raise SourceError(
                f"{file}, line {first + at}: <!-- end --> closes nothing; a model answer begins "
                "with <!-- answer: NAME -->."
            )
        piece, end = _piece(lines, at, first, file)
        if piece:
            close()
            found.append(piece)
        else:
            began = began if text else at
            text.extend(lines[at:end])
        at = end
    close()
    return found


def _piece(lines: list[str], at: int, first: int, file: str) -> tuple[Piece | None, int]:
    """Return the part that begins on a line, None for Markdown, and the line after it."""
    if answer := _ANSWER.match(lines[at]):
        end = next((i for i in range(at + 1, len(lines)) if _CLOSED.match(lines[i])), None)
        if end is None:
            raise SourceError(
                f"{file}, line {first + at}: the model answer to {answer[1]} does not end; "
                "close it with <!-- end -->."
            )
        text = "\n".join(lines[at + 1 : end]).strip()
        return Piece("model", text, first + at + 1, answer[1]), end + 1
    if fence := _FENCE.match(lines[at]):
        end = next((i for i in range(at + 1, len(lines)) if _closes(lines[i], fence[1])), None)
        if end is None:
            raise SourceError(
                f"{file}, line {first + at}: the block {lines[at].strip()} does not end; "
                f"close it with {fence[1]}."
            )
        return _block(fence[2], lines[at + 1 : end], first + at + 1, file), end + 1
    return None, at + 1


def _closes(line: str, fence: str) -> bool:
    return line.strip().startswith(fence) and not line.strip().strip(fence[0])


def _block(opening: str, lines: list[str], line: int, file: str) -> Piece | None:
    """Return a code cell or a question, or None for a block of plain Markdown."""
    if not opening.startswith("{"):
        return None
    name, _, rest = opening[1:].partition("}")
    if name == "question":
        return Piece("question", "\n".join(lines), line, rest.strip())
    if name != "code-cell":
        raise SourceError(
            f"{file}, line {line - 1}: {{{name}}} is no block of an assignment; {{code-cell}} and "
            f"{{question}} are, "
            "and all else is plain Markdown."
        )
    tags = []
    while lines and lines[0].startswith(":"):
        found = re.fullmatch(r":tags:\s*\[(.*)\]\s*", lines[0])
        if not found:
            raise SourceError(
                f"{file}, line {line}: a cell's options are :tags: [answer] or :tags: [explore]; "
                f"got {lines[0]!r}."
            )
        tags += [tag.strip() for tag in found[1].split(",") if tag.strip()]
        lines, line = lines[1:], line + 1
    if len(tags) > 1 or any(tag not in TAGS for tag in tags):
        raise SourceError(
            f"{file}, line {line - 1}: a cell is tagged {' or '.join(TAGS)}, or not at all (the "
            "build makes the setup cell); "
            f"got {', '.join(tags)}."
        )
    while lines and not lines[0].strip():
        lines, line = lines[1:], line + 1
    return Piece("code", "\n".join(lines).rstrip(), line, tag=tags[0] if tags else "")


@dataclass(frozen=True)
class Cut:
    """A cell's code in its two forms, and the lines that only the solution has."""

    solution: str
    empty: str
    taken: tuple[str, ...]


def cut(code: str, line: int, file: str) -> Cut:
    r"""Split code into a form with its solution and a form with holes in its place.

    >>> made = cut("def double(x):\n    # solution\n    return 2 * x\n    # end", 1, "a.md")
    >>> print(made.empty)
    def double(x):
        raise NotImplementedError("your code here")
    >>> cut("y = 3  # solution", 1, "a.md").empty, made.taken
    ('y = ...', ('    return 2 * x',))
    """
    whole, empty, taken = [], [], []
    inside: list[str] = []  # the lines of the solution that is being read
    began, indent = 0, ""
    for number, text in enumerate(code.splitlines(), line):
        if begin := _BEGIN.match(text):
            if began:
                raise SourceError(
                    f"{file}, line {number}: # solution stands within a solution; close the first "
                    "with # end."
                )
            began, indent, inside = number, begin[1], []
        elif _END.match(text):
            if not began:
                raise SourceError(
                    f"{file}, line {number}: # end closes nothing; a solution begins with # "
                    "solution."
                )
            if not any(map(str.strip, inside)):
                raise SourceError(
                    f"{file}, line {began}: the solution is empty; write it between # solution "
                    "and # end."
                )
            empty += (
                [f"{indent}{HOLE}"]
                if indent
                else [
                    f"{name} = {BLANK}"
                    for name in bound("\n".join(inside), began + 1, file)
                    if not name.startswith("_")
                ]
            )
            began = 0
        elif began:
            inside.append(text)
            whole.append(text)
            taken.append(text)
        elif one := _INLINE.match(text):
            name = re.match(r"^(\s*[\w, ]+?(?::[^=]+)?=)(?!=)", text)
            if not name:
                raise SourceError(
                    f"{file}, line {number}: a line that ends in # solution is name = value; got "
                    f"{text.strip()!r}."
                )
            whole.append(one[1])
            empty.append(f"{name[1]} {BLANK}")
            taken.append(one[1])
        else:
            whole.append(text)
            empty.append(text)
    if began:
        raise SourceError(f"{file}, line {began}: the solution does not end; close it with # end.")
    return Cut("\n".join(whole), "\n".join(empty), tuple(text for text in taken if text.strip()))


def parse(code: str, line: int, file: str) -> ast.Module:
    """Return the syntax tree of a cell.

    Raises SourceError, which names the line of a syntax error.
    """
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError) as error:
        raise SourceError(
            f"{file}, line {line + (getattr(error, 'lineno', None) or 1) - 1}: this is no Python: "
            f"{getattr(error, 'msg', None) or error}."
        ) from None


def bound(code: str, line: int = 1, file: str = "") -> list[str]:
    r"""Return the names that a cell defines at its top level, in order, without imports.

    >>> bound("import math\ndef f(x): y = 1\na = b = 2\n(c, d) = 3, 4")
    ['f', 'a', 'b', 'c', 'd']
    """
    found: list[str] = []
    for node in parse(textwrap.dedent(code), line, file).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [
                part.id
                for target in targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            ]
    return list(dict.fromkeys(found))


def imported(code: str) -> set[str]:
    r"""Return the packages that the code imports, at any depth.

    >>> sorted(imported("import numpy.linalg as la\ndef f():\n    from handful import ask"))
    ['handful', 'numpy']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
