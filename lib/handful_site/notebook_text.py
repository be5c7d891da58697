"""Chapter text as Markdown for any notebook application: no roles, no directives, working links.

What only the site can show is written out: numbers and verdicts as text, citations as author and
year, admonitions as quotations, folded answers as <details>, definition lists as lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

SPAN = re.compile(r"\[([^\[\]]*)\]\{\.[\w-]+\}")  # words with a class, which only pages know
ROLE = re.compile(r"\{(live|lecture|spoken|given|fact|guess|cite|count)\}(`+)(.+?)\2", re.S)
OPENING = re.compile(r"^(`{3,}|~{3,}|:{3,})(?:\{([\w:-]+)\})?[ \t]*(.*)$")
LINK = re.compile(r"\]\(((?!https?:|mailto:|#)[^()\s]+)\)")
ANCHOR = re.compile(r'<a href="([^"]+)">(.*?)</a>', re.S)
TERM = re.compile(r"^(?![\s:>|*#-])(\S.*)\n: +(.+)$", re.M)


CONDITIONAL = re.compile(r"\{(where|always)\}(`{2,})(.+?)\2(?!`)", re.S)


def holding(text: str) -> str:
    """Return a text with {where} and {always} resolved for the book's own scenario.

    >>> holding(
    ...     "It is sold. {where}``device_price > 0 | Rent is {live}`device_price`.``"
    ...     "{where}``not device_price > 0 | Not rented.``"
    ... )
    'It is sold. Rent is {live}`device_price`.'
    """
    from .extensions import roles

    def resolve(found: re.Match) -> str:
        condition, words = roles.condition_and_text(" ".join(found[3].split()))
        return words if found[1] == "always" or roles.where(condition)["holds"] else ""

    return CONDITIONAL.sub(resolve, text)


def to_markdown(text: str, site: str = "", references: Mapping[str, str] | None = None) -> str:
    r"""Resolve the book's own roles to text and links.

    >>> to_markdown("see {lecture}`9:40` for {spoken}`2,400`")
    'see [9:40](https://www.youtube.com/watch?v=xmkSf5IS-zw&t=580s) for 2,400'
    >>> to_markdown("at {live}`cost_floor`").replace(
    ...     "\xa0", " "
    ... )  # a dollar sign would begin a formula
    'at \\$0.033 per million tokens'
    >>> to_markdown("the ridge{guess}`roofline`, in bytes")
    'the ridge, in bytes'
    >>> to_markdown("[Tick {given}`1` box.]{.only-on-site}")
    'Tick 1 box.'
    >>> to_markdown("by {cite}`a,b`", references={"a": "Ada, 1843", "b": "Babbage, 1864"})
    'by (Ada, 1843; Babbage, 1864)'
    """
    from .extensions import roles

    def resolve(found: re.Match) -> str:
        role, body = found[1], " ".join(found[3].split())
        if role == "lecture":
            return f"[{body}]({roles.lecture_address(body)})"
        if role == "live":
            return roles.live(body)["text"].replace("$", r"\$")
        if role == "guess":
            return ""  # kept in the browser in which the book was read
        if role == "cite":
            keys = [key.strip() for key in body.split(",")]
            return f"({'; '.join((references or {}).get(key, key) for key in keys)})"
        if role == "count":
            from .extensions import teaching

            return str(teaching.count(body))
        return roles.fact(body)["text"].replace("$", r"\$") if role == "fact" else body

    return ROLE.sub(resolve, SPAN.sub(r"\1", holding(text)))


@cache
def citations(bibliography: Path) -> dict[str, str]:
    """Return each source as author and year, linked where it has an address.

    For example, ``{"pope2026math": "[Pope, 2026](…)"}``.
    """
    from pybtex.database import parse_file

    found = {}
    for key, entry in parse_file(str(bibliography), bib_format="bibtex").entries.items():
        people = [
            re.sub(r"[{}\\]", "", " ".join([*one.prelast_names, *one.last_names]) or str(one))
            for one in entry.persons.get("author", ())
        ]
        who = (
            people[0]
            + (" et al." if len(people) > 2 else f" and {people[1]}" if len(people) == 2 else "")
            if people
            else key
        )
        who, fields = who.replace(" and others", " et al."), entry.fields
        text = f"{who}, {fields['year']}" if "year" in fields else who
        written = re.search(
            r"https?://[^\s{}]+",
            " ".join(fields.get(name, "") for name in ("url", "howpublished", "note")),
        )
        address = (
            f"https://arxiv.org/abs/{fields['eprint']}"
            if "eprint" in fields
            else f"https://doi.org/{fields['doi']}"
            if "doi" in fields
            else written[0]
            if written
            else ""
        )
        found[key] = f"[{text}]({address})" if address else text
    return found


def relink(text: str, site: str, beside: Collection[str]) -> str:
    """Adapt the links within the book.

    They lead to the site where its address is known, else to a notebook beside this one; where
    there is none, they become text.

    >>> relink("[one](balance-batch#which) and [two](claims.md)", "https://example.org/", ())
    '[one](https://example.org/balance-batch.html#which) and [two](https://example.org/claims.html)'
    >>> relink("[one](balance-batch#which) and [two](glossary.md)", "", {"balance-batch"})
    '[one](balance-batch.ipynb) and two'
    """

    def address(target: str) -> str:
        page, _, part = target.partition("#")
        page = re.sub(r"\.(md|html)$", "", page)
        if site:
            return site + (page if "." in page else page + ".html") + (f"#{part}" if part else "")
        return f"{page}.ipynb" if page in beside else ""

    text = ANCHOR.sub(lambda m: f"[{m[2]}]({address(m[1])})" if address(m[1]) else m[2], text)
    text = LINK.sub(lambda m: f"]({address(m[1])})", text)
    return re.sub(r"(?<!!)\[([^\[\]]+)\]\(\)", r"\1", text)


def written_out(text: str) -> str:
    r"""Convert directives, definition lists and labels of MyST to plain Markdown.

    >>> print(written_out(":::{admonition} Why?\n:class: dropdown\nBecause.\n:::"))
    <details><summary>Why?</summary>
    <BLANKLINE>
    Because.
    <BLANKLINE>
    </details>
    >>> print(written_out("```{admonition} Mind\nOne.\n\nTwo.\n```\n\nA term\n: What it is."))
    > **Mind**
    >
    > One.
    >
    > Two.
    <BLANKLINE>
    - **A term**: What it is.
    >>> print(written_out("```{code-block} console\n$ handful facts\n```"))
    ```console
    $ handful facts
    ```
    """
    made, lines = [], text.split("\n")
    words: list[str] = []  # of running text, in which definition lists are looked for

    def flush() -> None:
        if words:
            made.append(_running("\n".join(words)))
            words.clear()

    i = 0
    while i < len(lines):
        opened = OPENING.match(lines[i])
        if not opened:
            words.append(lines[i])
            i += 1
            continue
        fence = opened[1]
        end = next(
            (
                j
                for j in range(i + 1, len(lines))
                if re.fullmatch(rf"{re.escape(fence[0])}{{{len(fence)},}}\s*", lines[j])
            ),
            len(lines),
        )
        flush()
        made.append(
            _directive(opened[2], opened[3].strip(), lines[i + 1 : end])
            if opened[2]
            else "\n".join(lines[i : end + 1])
        )
        i = end + 1
    flush()
    return "\n".join(made)


def _running(text: str) -> str:
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)
    return TERM.sub(r"- **\1**: \2", text)


def _directive(name: str, title: str, body: list[str]) -> str:
    options = {}
    while body and (found := re.match(r":([\w-]+):\s*(.*)$", body[0])):
        options[found[1]] = found[2]
        body = body[1:]
    if name in ("code-block", "code"):
        return "\n".join([f"```{title}", *body, "```"])
    if name == "where":
        from .extensions import roles

        if not roles.where(roles.condition(title))["holds"]:
            return ""
    text = written_out("\n".join(body)).strip("\n")
    if name not in ("admonition", "note", "tip", "warning", "important", "margin", "sidebar"):
        return text  # what only groups
    title = title or ("" if name in ("margin", "sidebar") else name.capitalize())
    if "dropdown" in options.get("class", ""):
        return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
    inside = f"**{title}**\n\n{text}" if title else text
    return "\n".join(f"> {line}".rstrip() for line in inside.split("\n"))
