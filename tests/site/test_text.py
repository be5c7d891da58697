"""Tests of Markdown and formulas in a terminal."""

from __future__ import annotations

import pytest

from handful_study import markup, maths, words


@pytest.mark.parametrize(
    "markdown, lines",
    [
        ("one\ntwo", ["one two"]),
        ("one\\\ntwo", ["one", "two"]),
        ("# Head\n\ntext", ["Head", "", "text"]),
        ("- a\n- b", ["- a", "- b"]),
        ("3. a\n4. b", ["3. a", "4. b"]),
        ("- a\n\n  b", ["- a", "", "  b"]),
        ("```python\nx = 1\n\ny = 2\n```", ["    x = 1", "    ", "    y = 2"]),
        ("> said\n> so", ["| said so"]),
        ("a\n\n---\n\nb", ["a", "", "-" * 20, "", "b"]),
        ("| A | Bcd |\n|---|---|\n| 12 | x |", ["A   Bcd", "12  x"]),
        ("![A figure](a.svg)", ["[picture: A figure]"]),
        ("**bold** `code` *slant*", ["bold code slant"]),
        ("$$\n\\frac{a}{b}\n$$", ["    a/b"]),
        ("half is $\\tfrac12$", ["half is 1/2"]),
    ],
)
def test_blocks(markdown, lines):
    shown = markup.text(markdown, 40).split("\n")
    assert [line.rstrip() for line in shown] == [line.rstrip() for line in lines]


def test_lines_are_as_long_as_the_terminal_and_no_word_is_broken():
    text = markup.text("word " * 30 + "https://example.org/" + "a" * 60, 40)
    assert (
        max(len(line) for line in text.split("\n") if "https" not in line) <= 40
        and "a" * 60 in text
    )


@pytest.mark.parametrize(
    "tex, line",
    [
        (r"\sqrt{x+1}", "√(x + 1)"),
        (r"\sqrt[3]{x}", "³√x"),
        (r"x_{12}^2", "x₁₂²"),
        (r"x_{\max}", "x_max"),
        (r"e^{x/2}", "e^(x / 2)"),
        (r"(a+b)^2", "(a + b)²"),
        (r"\bar x", "x\u0304"),
        (r"\hat{y}", "y\u0302"),
        (r"\dot x", "x\u0307"),
        (r"\overbrace{a+b}^{c}", "a + b^c"),
        (r"\sum_{i=1}^{n} i", "∑_(i = 1)ⁿ i"),
        (r"\begin{matrix}a & b\\c & d\end{matrix}", "a b\nc d"),
        (r"a \ge b", "a ≥ b"),
        (r"2\,\mathrm{GB}", "2 GB"),
        (r"\text{if } x > 0", "if x > 0"),
    ],
)
def test_formulas_as_a_line(tex, line):
    assert maths.text(tex) == line


@pytest.mark.parametrize("tex", [r"\unheard{x}", r"\left( x"])
def test_what_cannot_be_set_is_shown_as_it_was_written(tex):
    with pytest.raises(maths.MathsError):
        maths.tree(tex)
    assert maths.text(tex) == tex
    assert maths.mathml(tex) == f"<code>{tex}</code>"


def test_tex_in_html_is_escaped():
    assert "<b" not in maths.mathml(r"\unheard{<b>}")


@pytest.mark.parametrize(
    "role, shown",
    [
        ("{fact}`accelerators / H100 SXM / hbm_capacity_bytes`", "80 GB"),
        ("{spoken}`2,400`", "2,400"),
    ],
)
def test_roles_of_the_book_outside_of_it(role, shown):
    assert words.without_roles(role).replace("\xa0", " ") == shown


def test_a_live_number_outside_of_a_page_is_that_of_the_default_scenario():
    from handful_site.extensions.roles import live

    request = "step_time batch=256 digits=2"
    assert words.without_roles(f"{{live}}`{request}`") == live(request)["text"]
