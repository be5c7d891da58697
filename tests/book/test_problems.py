"""Tests of problems in the built book, in a real browser.

They cover what a learner does with them, with keys alone, on a phone, and without scripts.
"""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from handful.symbolic.quantities import table
from handful.units import format_value
from handful_evidence.simulate import pipeline
from handful_study.cards import cards
from handful_study.check import check, letter, right_choice
from handful_study.order import by_chapter, in_book_order
from handful_study.pipeline_schedules import as_text
from handful_study.problem_model import schedule_goal as goal
from handful_study.problems import problem, problems
from soup import soup

NUMBER, CHOICE, FORMULA, SCHEDULE = (
    "step-of-a-dense-model",
    "who-is-right-about-cost",
    "balance-batch-in-letters",
    "write-a-schedule",
)
CHAPTER = problem(NUMBER).chapter


def page(name: str):
    return soup(f"{name}.html")


def shown(one, seed: int) -> str:
    """Return the right answer as the book would print it."""
    return format_value(one.right(seed), one.unit, 4)


@pytest.fixture
def tab(shared):
    made = shared()
    yield made
    assert made.faults == []


class Desk:
    """One problem on a page, as a learner meets it."""

    def __init__(self, page, name: str) -> None:
        self.node = page.locator(f"#problem-{name}")
        self.node.locator(".problem-tools").wait_for(state="attached")
        self.field = self.node.locator(".problem-form :is(input[type=text], textarea)")
        self.status = self.node.locator("[role=status]")

    def answer(self, text: str) -> str:
        self.field.fill(text)
        self.node.locator(".problem-check").click()
        return self.said()

    def said(self) -> str:
        """Return the verdict, without the button that leads on."""
        return self.status.inner_text().removesuffix("Next problem").strip()

    def texts(self) -> list[str]:
        return self.node.locator(".drawn").all_text_contents()


@pytest.fixture
def open_problem(site, tab):
    def go(name: str, query: str = "") -> Desk:
        one = problem(name)
        return Desk(tab.open(f"{site}{one.chapter}.html{query}#problem-{name}"), name)

    return go


# What the build gives


def test_every_card_ends_its_section_or_is_in_the_next_stack():
    review = [node["data-card"] for node in page("review").select("[data-card]")]
    assert review == [card.id for card in in_book_order(cards().values())]
    for chapter, group in by_chapter(cards().values()).items():
        written_page = page(chapter)
        written = {node["id"]: node for node in written_page.select("[data-card]")}
        for card in group:
            node = written[f"card-{card.id}"]
            section, stack = node.find_parent("section"), node.find_parent(class_="recall")
            if stack:  # where the reader pauses, after what it asks about
                sections = [one.get("id") for one in written_page.select("section")]
                ends = [
                    sections.index(one.find_parent("section")["id"])
                    for one in written_page.select(".recall")
                ]
                asked = sections.index(card.section)
                assert sections.index(section["id"]) == min(end for end in ends if end >= asked)
            else:
                assert section["id"] == card.section
                assert node.find_parent(class_="cards").parent is section
                after = node.find_parent(class_="cards").find_next_siblings()
                assert all(one.name == "section" for one in after), card.id
            assert node.select_one("details.card-back > summary") and not node.select("a.term")


def test_every_problem_ends_its_chapter_and_stands_on_practice():
    assert [node["data-problem"] for node in page("practice").select("[data-problem]")] == [
        one.id for one in in_book_order(problems().values())
    ]
    for chapter, group in by_chapter(problems().values()).items():
        written = page(chapter)
        nodes = written.select("[data-problem]")
        assert [(node["data-problem"], node["id"]) for node in nodes] == [
            (one.id, f"problem-{one.id}") for one in group
        ]
        for node in nodes:
            assert len(node.select("details.hint")) == 2 and node.select_one("details.solution")
            spec = json.loads(node.select_one("script.problem-spec").string)
            assert {int(span["data-drawn"]) for span in node.select("[data-drawn]")} == set(
                range(len(spec["drawn"]))
            )
            assert not node.select("a.term")


def test_pages_to_study_know_the_book():
    for name in ("review", "progress"):
        book = json.loads(page(name).select_one("script.study-book").string)
        assert sum(len(chapter["cards"]) for chapter in book["chapters"]) == len(cards())
        assert sum(len(chapter["problems"]) for chapter in book["chapters"]) == len(problems())


# Answers


@pytest.mark.browser
def test_a_right_answer_is_right_and_remembered(open_problem):
    desk = open_problem(NUMBER)
    assert "within 2 %" in desk.node.locator(".problem-about").inner_text().replace("\xa0", " ")
    assert desk.answer(shown(problem(NUMBER), 0)) == "✓ Right."
    desk.node.locator(".problem-done", has_text="✓ solved").wait_for()


@pytest.mark.browser
def test_a_right_answer_offers_the_next_problem(open_problem):
    desk = open_problem(NUMBER)
    desk.answer("3 GB")
    assert "Next problem" not in desk.status.inner_text()
    desk.answer(shown(problem(NUMBER), 0))
    desk.node.get_by_role("button", name="Next problem").click()
    ids = [node["data-problem"] for node in page(problem(NUMBER).chapter).select("[data-problem]")]
    following = ids[ids.index(NUMBER) + 1]
    focused = "document.activeElement.closest('.problem')?.dataset.problem"
    desk.node.page.wait_for_function(f"() => {focused} === '{following}'")


@pytest.mark.browser
def test_a_misconception_is_called_by_its_name(open_problem):
    desk, one = open_problem(NUMBER), problem(NUMBER)
    for turn, value in enumerate(one.wrong_values(0)):
        said = desk.answer(format_value(value, one.unit, 4))
        wanted = desk.node.locator(".problem-turns > li").nth(turn).text_content().strip()
        assert said.startswith("✗ Not yet.") and " ".join(wanted.split()) in " ".join(said.split())
    desk.node.locator(".problem-done", has_text="tried").wait_for()


@pytest.mark.browser
def test_what_cannot_be_counted_says_why(open_problem):
    desk = open_problem(NUMBER)
    for text, start in (
        ("", "– Not counted. Write an answer first."),
        ("3", "– Not counted. Which unit?"),
        ("3 parsecs", "– Not counted. 'parsecs' is no unit"),
        ("3 GB", "✗ Not yet. That is a number of bytes; asked for is a time."),
    ):
        assert desk.answer(text).startswith(start)
        assert (desk.field.get_attribute("aria-invalid") == "true") == start.startswith("–")
        expect(desk.node.locator(".problem-done")).to_have_text(
            "tried" if start.startswith("✗") else ""
        )  # noted after it is said


@pytest.mark.browser
def test_choices_are_radio_buttons_for_keys(open_problem):
    desk, one = open_problem(CHOICE), problem(CHOICE)
    right = right_choice(one, 0)
    radios = desk.node.get_by_role("radio")
    assert radios.count() == len(one.choices)
    page = desk.node.page
    desk.node.locator(".problem-check").click()
    assert desk.status.inner_text().startswith("– Not counted. Choose one of the")
    radios.first.focus()
    page.keyboard.press("Space")
    for _ in range((right + 1) % len(one.choices)):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wrong = (
        desk.node.locator(".choice-says").nth((right + 1) % len(one.choices)).text_content().strip()
    )
    assert (
        desk.status.inner_text().startswith("✗ Not yet.") and wrong[:30] in desk.status.inner_text()
    )
    radios.nth(right).check()
    desk.node.locator(".problem-check").click()
    assert desk.status.inner_text().startswith("✓ Right.")


@pytest.mark.browser
def test_a_formula_counts_in_any_form(open_problem):
    desk, one = open_problem(FORMULA), problem(FORMULA)
    right = one.entry.head["answer"]
    for name in one.letters:
        right = re.sub(rf"\b{name}\b", letter(name), right)
    for name in ("flops_per_multiply_add", "one_token"):
        right = right.replace(name, str(table[name].default))
    assert desk.answer(right).startswith("✓ Right.")
    assert "Only a factor is off: yours is always 3 times the answer." in desk.answer(
        f"3 * {right}"
    )
    assert "is none of the letters of this answer" in desk.answer("2 * zebra")


@pytest.mark.browser
def test_a_schedule_is_played_and_drawn(open_problem):
    desk, one = open_problem(SCHEDULE), problem(SCHEDULE)
    asked = goal(one, 0)
    size = asked.stages, asked.micro_batches
    assert desk.answer(as_text(pipeline.one_forward_one_backward(*size).orders)).startswith(
        "✓ Right. A stage waits for"
    )
    chart = desk.node.locator("svg[role=img]")
    assert chart.locator("rect").count() > 2 * size[0] * size[
        1
    ] and "As played: " in chart.get_attribute("aria-label")
    assert "that is GPipe" in desk.answer(as_text(pipeline.gpipe(*size).orders))
    line = [
        "B1",
        *(f"F{j}" for j in range(1, size[1] + 1)),
        *(f"B{j}" for j in range(2, size[1] + 1)),
    ]
    stuck = "\n".join(" ".join(line) for _ in range(size[0]))
    assert desk.answer(stuck) == "✗ Not yet. " + check(one, stuck, 0).says
    assert chart.count() == 0


# Hints, numbers, address


@pytest.mark.browser
def test_hints_come_one_by_one_and_starting_over_folds_them(open_problem):
    desk = open_problem(NUMBER)
    hints, solution = desk.node.locator("details.hint"), desk.node.locator("details.solution")
    assert (
        hints.nth(0).is_visible()
        and not hints.nth(1).is_visible()
        and solution.get_attribute("open") is None
    )
    hints.nth(0).locator("summary").click()
    hints.nth(1).wait_for()  # what unfolds tells so in a task of its own
    desk.answer("1 ms")
    desk.node.get_by_role("button", name="Start over").click()
    hints.nth(1).wait_for(state="hidden")
    assert (
        desk.field.input_value() == "" and desk.status.inner_text() == "As it was at the beginning."
    )


@pytest.mark.browser
def test_new_numbers_are_the_seeds_and_the_address_keeps_them(open_problem, site, tab):
    desk, one = open_problem(NUMBER), problem(NUMBER)
    before = desk.texts()
    for _ in range(5):
        desk.node.get_by_role("button", name="New numbers").click()
    seed = int(desk.node.locator(".problem-seed").inner_text().split()[1])
    assert parse_qs(urlsplit(tab.page.url).query) == {f"problem-{NUMBER}": [str(seed)]}
    after = desk.texts()
    assert after != before or one.draw(seed) == one.draw(0)
    assert desk.answer(shown(one, seed)) == "✓ Right."
    address = desk.node.locator(".problem-seed").evaluate("a => a.href")
    again = Desk(tab.open(address), NUMBER)
    assert again.texts() == after
    again.node.get_by_role("button", name="Start over").click()
    assert again.texts() == before and urlsplit(tab.page.url).query == ""


@pytest.mark.browser
def test_a_bad_seed_is_named_and_the_first_numbers_shown(site, tab):
    """One visit for all: each seed is asked for another problem of the chapter."""
    names = [
        one.id
        for one in problems().values()
        if one.chapter == CHAPTER and (one.draw(0) or one.cases)
    ]
    asked = dict(zip(names, ["-1", "1e3", "4294967296", "<b>x</b>", "", "9" * 60], strict=False))
    assert len(asked) == 6
    page = tab.open(
        f"{site}{CHAPTER}.html?" + "&".join(f"problem-{name}={bad}" for name, bad in asked.items())
    )
    for name, bad in asked.items():
        desk = Desk(page, name)
        said = desk.status.text_content()
        assert "a whole number from 0 to 4,294,967,295" in said and f"“{bad[:40]}" in said
        assert desk.node.locator(".problem-seed").text_content() == "Numbers 0"


@pytest.mark.browser
def test_the_readers_scenario_has_no_part_in_a_problem(open_problem, site, tab):
    first = open_problem(NUMBER)
    texts = first.texts()
    other = Desk(
        tab.open(
            f"{site}{CHAPTER}.html?hardware=H100+SXM&model=Llama+3.1+8B&precision=bf16&context=100000"
            f"#problem-{NUMBER}"
        ),
        NUMBER,
    )
    assert other.texts() == texts
    assert other.answer(shown(problem(NUMBER), 0)) == "✓ Right."


@pytest.mark.browser
def test_keys_alone_are_enough(open_problem, tab):
    desk = open_problem(NUMBER)
    desk.field.focus()
    tab.page.keyboard.type(shown(problem(NUMBER), 0).replace("\xa0", " "))
    tab.page.keyboard.press("Enter")
    assert desk.said() == "✓ Right."
    stops = []
    # What a problem offers is one stop, entered at Check; what comes next has its own.
    for key in ("Tab", "Tab", "Shift+Tab", *["ArrowRight"] * 5):
        tab.page.keyboard.press(key)
        stops.append(tab.page.evaluate("document.activeElement.textContent.trim()"))
    tools = ["A hint", "The solution", "New numbers", "Start over", "Numbers 0"]
    assert stops == ["Check", "Next problem", "Check", *tools]
    label = desk.field.evaluate("input => input.labels[0].textContent")
    assert "with its unit" in label


# Practice


@pytest.mark.browser
def test_practice_is_printed_with_the_texts_of_its_problems(site, tab):
    page = tab.open(f"{site}practice.html?level=judge")
    page.locator(".problem-open:visible").first.wait_for()
    page.emulate_media(media="print")
    judged = [one for one in problems().values() if one.level == "judge"]
    assert page.locator(".problem-body:visible").count() == len(judged)
    assert page.locator(".problem-row-name:visible").count() == len(judged)
    assert page.locator(".practice-tools:visible").count() == 0


@pytest.mark.browser
def test_practice_narrows_and_unfolds_one_at_a_time(site, tab):
    page = tab.open(f"{site}practice.html")
    rows = page.locator(".problem-open:visible")
    assert rows.count() == len(problems())
    page.locator(".practice-tools button", has_text="Judge").click()
    judged = [one for one in problems().values() if one.level == "judge"]
    assert rows.count() == len(judged)
    first = next(iter(by_chapter(problems().values())))
    page.locator(".practice-tools fieldset").first.locator("button").first.click()
    assert rows.count() == sum(one.chapter == first for one in judged)
    assert parse_qs(urlsplit(page.url).query) == {"level": ["judge"], "chapter": [first]}
    assert (
        page.locator(".practice-tools output").inner_text()
        == f"{rows.count()} of {len(problems())} problems"
    )
    page.reload()
    page.locator(".problem-open:visible").first.wait_for()
    assert rows.count() == sum(one.chapter == first for one in judged)
    page.get_by_role("button", name="Show all").click()
    assert rows.count() == len(problems())
    for _ in range(3):
        page.get_by_role("button", name="A random one").click()
        assert page.locator(".problem-body:visible").count() == 1
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"


@pytest.mark.browser
def test_a_link_to_a_problem_unfolds_it_and_what_is_solved_is_marked(site, tab):
    page = tab.open(f"{site}practice.html?level=judge#problem-{NUMBER}")
    desk = Desk(page, NUMBER)
    assert desk.field.is_visible()
    assert desk.answer(shown(problem(NUMBER), 0)) == "✓ Right."
    desk.node.locator(".problem-row-mark", has_text="✓ solved").wait_for()
    page.locator(".practice-tools button", has_text="Solved").click()
    assert page.locator(".problem-open:visible").count() == 1


@pytest.mark.browser
@pytest.mark.parametrize("name", ["practice", problem(SCHEDULE).chapter])
def test_it_reads_on_a_phone(site, shared, name):
    tab = shared(width=375, color_scheme="light")
    page = tab.open(f"{site}{name}.html#problem-{SCHEDULE}")
    desk = Desk(page, SCHEDULE)
    size = goal(problem(SCHEDULE), 0)
    desk.answer(as_text(pipeline.gpipe(size.stages, size.micro_batches).orders))
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "scheme => document.documentElement.dataset.theme === scheme", arg=scheme
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        for button in desk.node.locator("button:visible").all():
            assert button.bounding_box()["height"] >= 44
    assert tab.faults == []


@pytest.mark.parametrize("name", ["practice", CHAPTER])
@pytest.mark.browser
def test_without_scripts_problems_read_and_unfold(site, shared, name):
    page = shared(java_script_enabled=False).page
    page.goto(f"{site}{name}.html#problem-{NUMBER}")
    node, one = page.locator(f"#problem-{NUMBER}"), problem(NUMBER)
    assert node.locator(".problem-text").is_visible() and node.locator("form").count() == 0
    assert not node.locator(".problem-turns").is_visible()
    node.locator("details.solution summary").click()
    assert (
        node.locator("details.solution p").first.is_visible()
        and format_value(one.right(0), one.unit) in node.locator("details.solution").inner_text()
    )
