"""Tests of the ledger.

Every row recomputes, every row is reached, and what cannot stand is refused in one sentence.
"""

import csv
import inspect
import io
import json
import re
from collections import Counter

import pytest
import yaml

from handful import query as ask
from handful_evidence import claims
from handful_evidence.claims import ClaimsError, checks, judge, load, read
from handful_site import bootstrap
from handful_site.build import chapters
from handful_site.extensions import ledger

BOOK = bootstrap.ROOT / "book"
# Claims in each segment of the lecture, counted when it was read; fewer would mean that a row was
# lost.
COUNTS = {1: 56, 2: 33, 3: 27, 4: 29, 5: 16, 6: 38, 7: 16}


def test_no_claim_of_the_lecture_is_lost():
    assert Counter(claim.segment for claim in load()) == COUNTS
    assert len({claim.id for claim in load()}) == sum(COUNTS.values())
    assert [(claim.segment, claim.seconds) for claim in load()] == sorted(
        (claim.segment, claim.seconds) for claim in load()
    )


@pytest.mark.parametrize("claim", load(), ids=lambda claim: claim.id)
def test_every_claim_has_what_a_reader_needs(claim):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", claim.id)
    assert claim.verdict in claims.VERDICTS and claim.basis in claims.BASES
    for text in (claim.statement, claim.reason):
        assert text[0].isupper() or text[0].isdigit() or text[0] in "($", text
        assert text.endswith((".", ")")) and "{" not in text and "\u2014" not in text
    assert bool(claim.values) == bool(claim.spoken) and not (claim.values and claim.findings)
    if claim.values:
        found = judge(
            [value.value for value in claim.values],
            claim.spoken,
            claim.within,
            claim.of,
            claim.at_least,
        )
        assert (
            claim.verdict == "slip of the tongue"
            if claim.slip
            else claim.verdict
            in ({"mixed": ("contested" if claim.contrary else "depends",)}.get(found, (found,)))
        )
        assert len({value.label for value in claim.values}) == len(claim.values)


def test_typed_verdicts_say_no_more_than_a_source_can():
    typed = [claim for claim in load() if claim.basis == "verdict"]
    assert {claim.verdict for claim in typed} <= {
        "holds",
        "contested",
        "depends",
        "true when said",
        "slip of the tongue",
        "not checkable",
    }
    assert len(typed) < len(load()) / 5
    # What is called true or disputed on the word of a source names one that is not the lecture
    # itself.
    ours = [
        claim for claim in typed if "xmkSf5IS" in claim.link or not claim.link.startswith("https:")
    ]
    own = [claim.id for claim in ours if claim.verdict != "not checkable"]
    assert own == ["hbm-fetch-is-free"]  # a definition


@pytest.mark.parametrize(
    "claim", [claim for claim in load() if claim.values], ids=lambda claim: claim.id
)
def test_no_recomputation_hangs_on_the_page_s_scenario(claim, monkeypatch):
    """A row names the chip, the model, the precision and the context that its number depends on."""
    usual = ask.scenario_values
    elsewhere = {"hardware": "H200 SXM", "model": "Kimi K2", "precision": "bf16", "context": 12345}
    monkeypatch.setattr(ask, "scenario_values", lambda **choice: usual(**{**elsewhere, **choice}))
    for value in claim.values:
        assert ask.answer(value.request).value == pytest.approx(value.value, rel=1e-12), (
            value.request
        )


def test_every_test_is_used_and_says_what_it_does():
    assert {claim.check for claim in load() if claim.check} == set(checks.TESTS)
    for test in checks.TESTS.values():
        phrase = test.__doc__.strip()  # which the ledger shows after "Tested:"
        assert "\n\n" not in phrase and not phrase.endswith("."), test.__name__
        assert not inspect.signature(test).parameters


# What earlier readings of the lecture found, against sources that are not this package.
@pytest.mark.parametrize(
    "name, verdict",
    [
        ("deepseek-sparsity-is-8", "wrong"),  # config_671B.json: 8 of 256
        ("batch-is-2400", "wrong"),
        ("attention-negligible-to-millions", "depends"),
        ("disk-drains-in-an-hour", "wrong"),
        ("sixty-four-for-four", "wrong"),  # Clark et al.: 7.5e9 stored for 370e6 active
        ("sparse-attention-square-root", "wrong"),
        (
            "flash-drains-in-a-minute",
            "depends",
        ),  # a terabyte in a minute, the drives of servers in minutes to hours
        ("balance-is-300", "holds"),
        ("drain-is-20-ms", "depends"),
        ("all-weights-whatever-the-batch", "depends"),
        ("gemini-50-percent-dearer", "depends"),
        ("bytes-per-token-1667", "depends"),
        ("one-rack-bounds-an-expert-layer", "contested"),
        ("genuine-four-times", "depends"),
        ("scale-out-8x-slower", "depends"),
        ("four-stages-20-to-30-ms", "depends"),
        ("hop-a-few-ms", "contested"),
        ("rack-many-tens-of-tb", "slip of the tongue"),
        ("micro-batch-is-2000", "slip of the tongue"),
        ("schedules-avoid-the-bubble", "depends"),
        ("gemini-ahead-by-domains", "not checkable"),
        ("practice-two-to-three-times", "holds"),
        ("rack-makes-128k", "holds"),
        ("worst-wait-40-ms", "depends"),
        ("stages-cancel-for-kv", "holds"),
        ("feistel-inverts-any-f", "holds"),
        ("cost-of-a-model", "depends"),
        ("two-months-200t", "depends"),
        ("ninety-nine-percent-broken", "not checkable"),
    ],
)
def test_known_verdicts(name, verdict):
    assert claims.find(name).verdict == verdict


def test_known_values():
    def values(name):
        return {value.label: value.value for value in claims.find(name).values}

    assert values("balance-is-300")["H100, fp8"] == pytest.approx(
        1978.9e12 / 2 / 3.35e12, rel=1e-3
    )  # its data sheet
    assert values("deepseek-sparsity-is-8")["total over active parameters"] == pytest.approx(
        671.03 / 37.55, rel=1e-3
    )
    assert values("batch-is-2400")["by routed experts"] == 9600
    assert values("bytes-per-token-1667")["B200, fp4"] == pytest.approx(
        8e12 / 9e15 * 2 * 1e11 / 2e5
    )
    assert (
        values("hop-a-few-ms")["a small message over InfiniBand, measured"] == 3.7e-6
    )  # arXiv 2505.09343, table 5


# The rule


@pytest.mark.parametrize(
    "values, spoken, within, verdict",
    [
        ([300], (300, 300), 1, "holds"),
        ([330, 273], (300, 300), 1.1, "holds"),
        ([331], (300, 300), 1.1, "order of magnitude"),
        ([300, 331], (300, 300), 1.1, "mixed"),
        ([900, 100], (300, 300), 1.1, "order of magnitude"),
        ([901], (300, 300), 1.1, "wrong"),
        ([99], (300, 300), 1.1, "wrong"),
        ([901, 1200], (300, 300), 1.1, "wrong"),
        ([900, 901], (300, 300), 1.1, "wrong"),
        ([90, 901], (300, 300), 1.1, "mixed"),
        ([1, 5, 10], (1, 10), 1, "holds"),
        ([11], (1, 10), 1, "order of magnitude"),
        ([5, 31], (1, 10), 1, "mixed"),
        ([0.1 + 0.2], (0.3, 0.3), 1, "holds"),
    ],
)
def test_the_rule_of_the_verdict(values, spoken, within, verdict):
    assert judge(values, spoken, within) == verdict


# Reached by the book


def reached() -> set[str]:
    """Return the claims that a page's table lists, or leaves to the ledger, which it links to."""
    tables = [
        chapter
        for page in BOOK.glob("*.md")
        for chapter in re.findall(
            r"^ledger\.checked\(\s*\"([\w-]+)\"", page.read_text("utf-8"), re.M
        )
    ]
    return {claim.id for claim in load() if claim.chapter in tables}


def test_every_chapter_on_the_shelf_reaches_its_claims():
    listed = chapters(yaml.safe_load((bootstrap.ROOT / "_toc.yml").read_text("utf-8")))
    assert {claim.chapter for claim in load()} == set(claims.CHAPTERS)
    for chapter in claims.CHAPTERS:
        assert (BOOK / f"{chapter}.md").exists() == (chapter in listed), chapter
    lost = [
        f"{claim.chapter}: {claim.id}"
        for claim in load()
        if claim.chapter in listed and claim.id not in reached()
    ]
    assert not lost, "No page shows these claims:\n" + "\n".join(lost)


# Rows that cannot stand

ROW = {
    "id": "a-claim",
    "time": "1:05",
    "who": "Pope",
    "statement": "So it is.",
    "reason": "It is so.",
    "source": "A paper",
    "link": "https://arxiv.org/abs/2202.01169",
    "spoken": 300,
    "unit": "token",
    "within": 1.1,
    "values": {"H100": 'weight_uses_at_balance hardware="H100 SXM" precision=fp8'},
}


def write(tmp_path, name="1-balance-batch.toml", **changes):
    def cell(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {cell(v)}" for k, v in value.items()) + "}"
        return json.dumps(value)

    row = {key: value for key, value in {**ROW, **changes}.items() if value is not None}
    path = tmp_path / name
    path.write_text(
        "[[claim]]\n" + "".join(f"{key} = {cell(value)}\n" for key, value in row.items()), "utf-8"
    )
    return path


def test_a_good_row_stands(tmp_path):
    [claim] = read(
        write(
            tmp_path,
            reason="With {H100}, and "
            '{weight_uses_at_balance hardware="B200 SXM" precision=fp8} on B200.',
        )
    )
    assert (claim.segment, claim.chapter, claim.verdict) == (1, "balance-batch", "holds")
    assert claim.reason.replace("\xa0", " ") == "With 295 tokens, and 281 tokens on B200."


NUMBERLESS = {"values": None, "spoken": None, "unit": None, "within": None}


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"source": None},
            "1-balance-batch.toml, claim a-claim, source: is missing; it must be a text.",
        ),
        ({"reason": " "}, "reason: is missing"),
        ({"id": None}, "claim after 1:05, id: is missing"),
        ({"who": "Smith"}, "who: must be one of Pope, Patel, .*; got 'Smith'"),
        (
            {"link": "arxiv"},
            "link: must be an address that starts with https://, or balance-batch.html .* got "
            "'arxiv'",
        ),
        ({"time": "1h"}, "time: '1h' is no time in the lecture"),
        ({"sauce": "x"}, "sauce: is no key of a claim; there are at_least"),
        (
            {"check": "stage_rule"},
            "values: a claim has values, or a check, or a verdict, and one of them only; got "
            "values and check",
        ),
        (NUMBERLESS, "one of them only; got none"),
        (
            {"spoken": None},
            "spoken: what was said and the values that it is held against come together",
        ),
        ({**NUMBERLESS, "verdict": "true"}, "verdict: must be one of holds, order of magnitude"),
        (
            {**NUMBERLESS, "check": "stage_rul"},
            "check: there is no test 'stage_rul'; the nearest are stage_rule",
        ),
        ({**NUMBERLESS, "check": "Findings"}, "check: there is no test 'Findings'"),
        ({"unit": "furlong"}, "unit: must be one of s, B"),
        ({"unit": "s"}, "is in token, but the claim is in s"),
        ({"within": 0.9}, "within: must be a factor from 1 to below 3"),
        ({"within": 3}, "within: must be a factor"),
        ({"within": None}, "within: must be a factor"),
        ({"spoken": 0}, "spoken: must be above 0 and rise; got 0"),
        ({"spoken": [2, 1]}, "spoken: must be above 0 and rise"),
        ({"spoken": [1, 2, 3]}, "spoken: must be a number or a range of two"),
        ({"values": {}}, "values: must be a table of at least one convention"),
        ({"values": {"H100": 3}}, "values 'H100': must be a request"),
        (
            {"values": {"H100": "machine_balanse precision=fp8"}},
            "values 'H100': There is no formula 'machine_balanse'",
        ),
        (
            {"values": {"H100": "accelerators / H100 SXM / colour"}},
            "values 'H100': .* cannot be shown",
        ),
        ({"values": {"H100": "models / DeepSeek-V3 / attention_kind"}}, "is no number: 'MLA'"),
        ({"reason": "It is {machine_balanse}."}, "reason: There is no formula 'machine_balanse'"),
    ],
)
def test_a_bad_row_is_refused(tmp_path, changes, message):
    with pytest.raises(ClaimsError, match=message) as error:
        read(write(tmp_path, **changes))
    assert str(error.value).count("\n") == 0 and str(error.value).startswith(
        "1-balance-batch.toml, claim "
    )


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("9-balance-batch.toml", "", "9-balance-batch.toml should be named SEGMENT-CHAPTER.toml"),
        ("1-balance.toml", "", "1-balance.toml should be named .* latency-and-cost"),
        ("1-balance-batch.toml", "id = ", "is no TOML"),
        ("1-balance-batch.toml", "x = 1", "should hold .* got x"),
        ("1-balance-batch.toml", "", "got nothing"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(ClaimsError, match=message):
        read(path)


def test_an_id_stands_once(tmp_path, monkeypatch):
    write(tmp_path)
    write(tmp_path, "1-latency-and-cost.toml")
    monkeypatch.setattr(claims, "FOLDER", tmp_path)
    with pytest.raises(ClaimsError, match="'a-claim'"):
        load.__wrapped__()


# Arithmetic over requests


@pytest.mark.parametrize(
    "text, value",
    [
        ("= 2 ** 3 - -1", 9),
        ("= log2(8) * (1 + 1)", 6),
        ("= [= 1 + 1] / 4", 0.5),
        ("= 1e3", 1000),
        ("= 8 * [accelerators / H100 SXM / hbm_capacity_bytes]", 640e9),
    ],
)
def test_arithmetic(text, value):
    assert ask.answer(text).value == value


@pytest.mark.parametrize(
    "text",
    [
        "= a",
        "= _0",
        "= log(2)",
        "= log2(1, 2)",
        "= 1 +",
        "= (1).real",
        "= 'a'",
        "= True",
        "= 1 if 1 else 2",
        "= [1, 2]",
        "= 1 % 2",
        "= x := 1",
    ],
)
def test_what_is_no_arithmetic(text):
    with pytest.raises(ask.QueryError):
        ask.answer(text)


@pytest.mark.parametrize(
    "text, message",
    [
        ("= 1 / 0", "cannot be computed"),
        ("= log2(0)", "cannot be computed"),
        ("= (-8) ** 0.5", "no finite number"),
        ("= 1e308 * 10", "no finite number"),
        ("= 10.0 ** 400", "cannot be computed"),
    ],
)
def test_arithmetic_without_a_result(text, message):
    with pytest.raises(ask.QueryError, match=message):
        ask.answer(text)


def test_unverified_facts_are_carried_along():
    assert not ask.answer('drain_time hardware="Vera Rubin NVL72" precision=fp8').verified
    assert not ask.answer('= 2 * [drain_time hardware="Vera Rubin NVL72" precision=fp8]').verified
    assert ask.answer('drain_time hardware="H100 SXM" precision=fp8').verified


# The page and its data


def test_the_page_shows_each_claim_once():
    shown = "".join(ledger.segment(number).text for number in claims.SEGMENTS)
    assert re.findall(r'<li class="entry" id="claim-([^"]+)"', shown) == [
        claim.id for claim in load()
    ]
    assert "(unverified)" in shown and " style=" not in shown and "<script" not in shown
    counted = [int(n) for n in re.findall(r"<td>(\d+)</td>", ledger.overview().text)]
    assert counted == [sum(claim.verdict == name for claim in load()) for name in claims.VERDICTS]


def test_the_data_say_what_the_page_says(tmp_path):
    ledger.publish(tmp_path)
    data = json.loads((tmp_path / "claims.json").read_text("utf-8"))["claims"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text("utf-8"))))
    assert (
        [row["id"] for row in data] == [row["id"] for row in rows] == [claim.id for claim in load()]
    )
    for separator in ",;\t":  # no spreadsheet runs a cell, whatever its list separator is
        for cells in csv.reader(
            io.StringIO((tmp_path / "claims.csv").read_text("utf-8"), newline=""),
            delimiter=separator,
        ):
            assert not any(
                cell.lstrip(' "').startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells
            )
    for claim, entry, row in zip(load(), data, rows, strict=True):
        assert (
            entry["verdict"] == row["verdict"] == claim.verdict
            and entry["seconds"] == int(row["seconds"]) == claim.seconds
        )
        assert [one["value"] for one in entry["recomputed"]] == [
            value.value for value in claim.values
        ]
        assert (float(row["spoken_low"]) if row["spoken_low"] else None) == (
            claim.spoken[0] if claim.spoken else None
        )
