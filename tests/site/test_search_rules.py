"""Tests of what the search reads in a page, and of its words, index and ranking in Node."""

from __future__ import annotations

import subprocess

import pytest
from bs4 import BeautifulSoup

from handful_site import bootstrap, search

PAGE = """<article class="article"><section id="one"><h1>One<a class="headerlink">#</a></h1>\
<p>First <span class="math" data-tex="N_{\\mathrm{total}}">x</span>.</p>
<section id="two"><h2>Two things</h2><p>Text (<a class="lecture-time">1:05</a>) here.</p>\
<div class="cell_input">code</div>
<div class="output text_latex"><div class="math" data-tex="\\displaystyle B^{*} = S M">x</div></div>
<div data-card="c" class="card" id="card-c"><div class="card-front"><p>Why?</p></div>\
<details class="card-back">Because.</details></div>
<figure class="explorer" id="explorer-e"><p class="explorer-title">A plot</p>\
<div role="img" aria-label="It rises."><svg><text>9</text></svg></div></figure>
<p>It is <span class="live" data-live="balance_batch-2" id="number-7">2,400</span>.</p>\
</section></section></article>"""


@pytest.fixture
def found():
    return search.read(BeautifulSoup(PAGE, "html.parser"), "a.html")


def test_in_node():
    done = subprocess.run(
        [*bootstrap.node_command(), "--test", "tests/site/search.test.mjs"],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_each_part_of_a_page_is_one_entry(found):
    assert {(e["kind"], e["anchor"], e["title"], e["text"]) for e in found["entries"]} == {
        ("section", "", "One", "First N_total."),
        ("section", "two", "Two things", "Text here. B* = S M. It is 2,400."),
        ("card", "card-c", "Why?", ""),
        ("plot", "explorer-e", "A plot", "It rises."),
    }
    assert found["live"] == {"balance_batch": "number-7"} and list(found["shown"]) == [
        "B^{*} = S M"
    ]


def test_no_answer_can_be_found(found):
    assert "Because" not in str(found["entries"])


@pytest.mark.parametrize(
    "tex, text",
    [
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"\sqrt{x}", "√(x)"),
        (r"\alpha_{i,j}", "α_i_j"),
        (r"x \le 2\,\mathrm{GB}", "x ≤ 2 GB"),
        (r"\begin{aligned}a &= b \\ c &= d\end{aligned}", "a = b; c = d"),
        (r"e^{-t/\tau}", "e^(-t/τ)"),
        (r"\max\left(t_{\mathrm{a}}, t_{\mathrm{b}}\right)", "max(t_a, t_b)"),
    ],
)
def test_maths_reads_as_it_is_typed(tex, text):
    assert search.tex_to_text(tex) == text
