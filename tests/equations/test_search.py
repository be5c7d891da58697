"""The formulas are found by what people call them."""

import tomllib
from pathlib import Path

import pytest

from handful.query import registry
from handful.search import SUBJECTS, answers, by_subject, search, words
from handful.symbolic.formula import Formula

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = tomllib.loads((ROOT / "tests/data/questions.toml").read_text("utf-8"))["question"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one["asked"])
def test_the_right_formula_comes_first(question):
    """Find the right one for questions that were written before the search was."""
    if question.get("to_come"):
        assert not set(question["answers"]) & set(registry()), "it has come: take the mark off"
        return
    assert set(question["answers"]) <= set(registry())
    assert search(question["asked"])[0].name in question["answers"]


def test_a_guess_is_told_from_an_answer():
    """Most questions are answered by what is found; of others it shares but a word."""
    found = [answers(search(one["asked"])[0], one["asked"]) for one in QUESTIONS]
    assert sum(found) >= 0.95 * len(found)
    for asked in ("spare replicas for availability", "price of tea in China"):
        assert not answers(search(asked)[0], asked)


def test_a_meaning_stands_alone():
    """A list of what a search found has nothing to be "the same" as."""
    assert not [
        f.name for f in registry().values() if f.meaning.startswith(("the same,", "the same wh"))
    ]


def test_there_are_questions_enough():
    asked = [question["asked"] for question in QUESTIONS]
    assert len(set(asked)) == len(asked) >= 60
    assert sum(not question.get("to_come") for question in QUESTIONS) >= 40


def test_every_formula_stands_under_one_subject():
    listed = [formula.name for formulas in by_subject().values() for formula in formulas]
    assert sorted(listed) == sorted(registry())
    modules = [module for found in SUBJECTS.values() for module in found]
    assert len(modules) == len(set(modules))


@pytest.mark.parametrize("name", sorted(registry()))
def test_a_formula_is_imported_from_where_it_says(name):
    import importlib

    formula = registry()[name]
    assert getattr(importlib.import_module(formula.module), name) is formula


@pytest.mark.parametrize("name", sorted(registry()))
def test_a_name_and_what_else_it_is_called_find_a_formula(name):
    formula = registry()[name]
    assert search(name)[0] is formula
    for called in formula.known_as:
        assert name in [found.name for found in search(called, limit=3)], called


def test_no_term_belongs_to_two_formulas():
    terms = [term.lower() for formula in registry().values() for term in formula.known_as]
    assert len(terms) > 40 and len(terms) == len(set(terms))


def test_nothing_is_found_by_words_that_nobody_uses_here():
    assert search("hair dryer") == [] and search("") == [] and search("the of and") == []
    assert all(isinstance(found, Formula) for found in search("cost", limit=3))
    assert len(search("cost", limit=3)) == 3


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("all-reduce", "allreduce"),
        ("8 GPUs", "8 chips"),
        ("GEMM", "matrix product"),
        ("MoE", "mixture of experts"),
        ("FSDP", "fully sharded data parallelism"),
        ("KV-cache", "kv cache"),
    ],
)
def test_synonyms_are_one_word(left, right):
    assert words(left) == words(right) != []
