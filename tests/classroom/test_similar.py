"""Tests of similar submissions.

A copy is found through what copies are disguised with, and solutions of one's own are not.
"""

import builtins
import json
import keyword
import random
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import cli
from handful_classroom.grading.submissions import Submission
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments
from handful_classroom.reports import similar, similar_page
from handful_classroom.reports.tokens import MOST_SHINGLES, K, shingles, tokens

SETUP = 'student = ""\nfrom handful_room import given'
EXPLORE = (
    "import matplotlib.pyplot as plt\n\n\ndef draw(context):\n"
    "    batches = [2**i for i in range(15)]\n    times = [step_time(batch, context) for "
    "batch in batches]\n    plt.loglog(batches, times)\n    plt.show()"
)
EMPTY = [
    "# Seconds for each of the three, on all chips of the node together.\ntimes = ...",
    'def step_time(batch, context):\n    """Seconds that one decode step of `batch` sequences '
    'takes, each with `context` tokens behind it."""\n    raise NotImplementedError("your code '
    'here")',
    'def cost_per_million(seconds, batch):\n    """Dollars for a million tokens, when a step of '
    '`batch` sequences lasts `seconds`."""\n    raise NotImplementedError("your code here")',
    "balance_batch = ...",
    'def weight_bytes(batch):\n    """Bytes of weights that a step of `batch` sequences reads, on '
    'average."""\n    raise NotImplementedError("your code here")',
    "largest_batch = ...",
]
NAMES = [
    "times",
    "step_time",
    "cost_per_million",
    "balance_batch",
    "weight_bytes",
    "largest_batch",
    "devices",
    "memory_bandwidth",
    "total_parameters",
    "bytes_per_parameter",
    "batch",
    "context",
    "kv_bytes_per_token",
    "active_parameters",
    "peak_flops",
    "device_price",
    "routed_parameters",
    "active_experts",
    "experts",
    "memory_capacity",
    "speed",
]
GIVEN = similar.released([SETUP, *EMPTY, EXPLORE], NAMES)

# Right solutions, each written without the others.
SOLUTIONS = {
    "the book": [
        """# Seconds for each of the three, on all chips of the node together.
_read = given["devices"] * given["memory_bandwidth"]
times = {
    "weights": given["total_parameters"] * given["bytes_per_parameter"] / _read,
    "caches": given["batch"] * given["context"] * given["kv_bytes_per_token"] / _read,
    "compute": 2 * given["active_parameters"] * given["batch"] / (given["devices"] * \
given["peak_flops"]),
}""",
        """def step_time(batch, context):
    read = given["total_parameters"] * given["bytes_per_parameter"] + batch * context * \
given["kv_bytes_per_token"]
    flops = 2 * given["active_parameters"] * batch
    return max(read / given["memory_bandwidth"], flops / given["peak_flops"]) / given["devices"]""",
        """def cost_per_million(seconds, batch):
    rent = given["devices"] * given["device_price"]
    return 1e6 * rent * seconds / batch""",
        'balance_batch = "w * F * N / (2 * W * A)"',
        """def weight_bytes(batch):
    asleep = (1 - given["active_experts"] / given["experts"]) ** batch
    return given["bytes_per_parameter"] * (given["total_parameters"] - \
given["routed_parameters"] * asleep)""",
        """_weights = given["total_parameters"] * given["bytes_per_parameter"]
_cache = given["context"] * given["kv_bytes_per_token"]
_in_time = (given["devices"] * given["memory_bandwidth"] / given["speed"] - _weights) / _cache
_in_memory = (given["devices"] * given["memory_capacity"] - _weights) / _cache
largest_batch = int(min(_in_time, _in_memory))""",
    ],
    "step by step": [
        """n = given["devices"]
bw = given["memory_bandwidth"] * n
fl = given["peak_flops"] * n
weights_bytes = given["bytes_per_parameter"] * given["total_parameters"]
kv_total = given["kv_bytes_per_token"] * given["context"] * given["batch"]
times = {}
times["weights"] = weights_bytes / bw
times["caches"] = kv_total / bw
times["compute"] = given["batch"] * given["active_parameters"] * 2 / fl""",
        """def step_time(batch, context):
    t_mem = (weights_bytes + given["kv_bytes_per_token"] * context * batch) / bw
    t_flop = batch * given["active_parameters"] * 2 / fl
    if t_mem > t_flop:
        return t_mem
    else:
        return t_flop""",
        """def cost_per_million(seconds, batch):
    tokens_per_second = batch / seconds
    dollars_per_second = given["device_price"] * n
    return dollars_per_second / tokens_per_second * 1_000_000""",
        'balance_batch = "F*w*N/(W*2*A)"',
        """def weight_bytes(batch):
    p_hit = given["active_experts"] / given["experts"]
    p_any = 1 - (1 - p_hit) ** batch
    shared = given["total_parameters"] - given["routed_parameters"]
    return (shared + p_any * given["routed_parameters"]) * given["bytes_per_parameter"]""",
        """per_seq = given["kv_bytes_per_token"] * given["context"]
room = given["memory_capacity"] * n - weights_bytes
fits = room / per_seq
budget = bw * (1 / given["speed"])
quick = (budget - weights_bytes) / per_seq
largest_batch = int(fits) if fits < quick else int(quick)""",
    ],
    "functions": [
        """def seconds_to_read(b):
    return b / given["memory_bandwidth"] / given["devices"]

def seconds_to_compute(batch):
    flop = batch * given["active_parameters"]
    return 2 * flop / given["peak_flops"] / given["devices"]

model_size = given["total_parameters"] * given["bytes_per_parameter"]

def cache_size(batch, context):
    return given["kv_bytes_per_token"] * batch * context

times = dict(
    weights=seconds_to_read(model_size),
    caches=seconds_to_read(cache_size(given["batch"], given["context"])),
    compute=seconds_to_compute(given["batch"]),
)""",
        """def step_time(batch, context):
    return max(seconds_to_read(model_size + cache_size(batch, context)), \
seconds_to_compute(batch))""",
        """def cost_per_million(seconds, batch):
    steps = 1e6 / batch
    return steps * seconds * given["devices"] * given["device_price"]""",
        'balance_batch = "(F/2/A) / (W/(N*w))"',
        """def weight_bytes(batch):
    missed = 1.0
    for _ in range(int(batch)):
        missed *= 1 - given["active_experts"] / given["experts"]
    read = given["total_parameters"] - missed * given["routed_parameters"]
    return read * given["bytes_per_parameter"]""",
        """b = 1
while True:
    too_slow = seconds_to_read(model_size + cache_size(b + 1, given["context"])) > \
1 / given["speed"]
    too_big = model_size + cache_size(b + 1, given["context"]) > \
given["devices"] * given["memory_capacity"]
    if too_slow or too_big:
        break
    b += 1
largest_batch = b""",
    ],
    "short": [
        """g = given
B = g["devices"] * g["memory_bandwidth"]
times = {"weights": g["bytes_per_parameter"] * g["total_parameters"] / B,
         "caches": g["kv_bytes_per_token"] * g["batch"] * g["context"] / B,
         "compute": g["active_parameters"] / g["peak_flops"] * 2 * g["batch"] / g["devices"]}""",
        """step_time = lambda batch, context: max(
    (g["bytes_per_parameter"] * g["total_parameters"] + \
g["kv_bytes_per_token"] * batch * context) / B,
    g["active_parameters"] / g["peak_flops"] * 2 * batch / g["devices"])""",
        'cost_per_million = lambda seconds, batch: seconds / batch * g["device_price"] * '
        'g["devices"] * 10**6',
        'balance_batch = "N*w/W * F/(2*A)"',
        'weight_bytes = lambda batch: g["bytes_per_parameter"] * (g["total_parameters"] - '
        'g["routed_parameters"] + g["routed_parameters"] * '
        '(1 - (1 - g["active_experts"] / g["experts"])**batch))',
        """free = [g["devices"] * g["memory_capacity"], B / g["speed"]]
largest_batch = int((min(free) - g["bytes_per_parameter"] * g["total_parameters"]) // \
(g["kv_bytes_per_token"] * g["context"]))""",
    ],
}


def notebook(cells, markdown=()):
    made = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for source in cells
    ]
    made += [{"cell_type": "markdown", "source": source, "metadata": {}} for source in markdown]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


def handed_in(some):
    """Submissions from students and their cells, each within the notebook as it was released."""
    return [
        Submission(student, f"{student}.ipynb", notebook([SETUP, *cells, EXPLORE]))
        for student, cells in some.items()
    ]


def found(some, share=similar.SHARE, given=GIVEN):
    return similar.find(handed_in(some), given, share)


def raw_share(one, other):
    """Return what two solutions share with nothing left out but what was released."""
    first, second = (
        {int(run) for run in similar.runs(similar.student_cells(data, GIVEN), GIVEN)}
        for data in (notebook(one), notebook(other))
    )
    return len(first & second) / min(len(first), len(second))


# What copies are disguised with


def renamed(cells):
    """Every name of the student's own replaced."""
    own = sorted(
        {
            name
            for cell in cells
            for name in re.findall(r"\b_?[a-z]\w*\b", re.sub(r'"[^"]*"|#.*', "", cell))
        }
        - {
            "given",
            *keyword.kwlist,
            *dir(builtins),
            *NAMES,
            "seconds",
            "weights",
            "caches",
            "compute",
            "e6",
        }
    )
    return [
        re.sub(
            r'"[^"]*"|#.*|\b_?[a-z]\w*\b',
            lambda found: f"other_{own.index(found[0])}" if found[0] in own else found[0],
            cell,
        )
        for cell in cells
    ]


def commented(cells):
    lines = [
        [
            part
            for line in cell.split("\n")
            for part in (f"# {random.Random(line).random()}", f"{line}  # {len(line)}")
        ]
        for cell in cells
    ]
    return ["\n".join(found) for found in lines]


def documented(cells):
    return [
        re.sub(
            r"^(def .*:)$",
            r"\1" + '\n    """My own words about it, which say a lot."""',
            cell,
            flags=re.M,
        )
        for cell in cells
    ]


def reordered(cells):
    return random.Random(3).sample(cells, len(cells))


def in_one_cell(cells):
    return ["\n\n".join(cells)]


def bracketed(cells):
    return [
        re.sub(
            r"^(\s*return )(.+)$",
            r"\1(\n        \2\n    )",
            cell.replace(" * ", "  *  "),
            flags=re.M,
        )
        for cell in cells
    ]


def padded(cells):
    return [
        *cells,
        "import math\nfor i in range(10):\n    print(math.sqrt(i), i ** 3, sorted([i, 2]))",
        "history = []\nhistory.append(step_time(1, 2))",
    ]


def partly(cells):
    return [*cells[:3], SOLUTIONS["short"][3], *cells[4:5]]


def all_at_once(cells):
    return reordered(bracketed(commented(documented(renamed(cells)))))


DISGUISES = [
    renamed,
    commented,
    documented,
    reordered,
    in_one_cell,
    bracketed,
    padded,
    partly,
    all_at_once,
]


def a_class(many, seed=1):
    """Students who each chose their own way for each question, and the order of factors in it."""
    draw, made = random.Random(seed), {}
    ways = list(SOLUTIONS.values())
    factor = r'given\["\w+"\]'
    for i in range(many):
        cells = []
        for question in range(len(EMPTY)):
            cell = draw.choice(ways)[question]
            cell = re.sub(
                rf"({factor}) \* ({factor})",
                lambda found: f"{found[2]} * {found[1]}" if draw.random() < 0.5 else found[0],
                cell,
            )
            for _ in draw.sample(range(9), 2):
                function = draw.choice(["round", "abs", "str", "repr"])
                cell += (
                    f"\nprint({function}({draw.choice(NAMES[:6])}), "
                    f"{draw.randrange(1000)}{draw.choice(['', ' ** 2', ' + 1', ' % 7'])})"
                )
            cells.append(cell)
        made[f"s{i:05}"] = cells
    return made


# What is found, and what is not


@pytest.mark.parametrize("name", list(SOLUTIONS))
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_copy_is_found(name, disguise):
    cells = SOLUTIONS[name]
    made = disguise(cells)
    assert made != cells or disguise is documented
    (pair,) = found({"ada": cells, "ben": made}).pairs
    assert {pair.left, pair.right} == {"ada", "ben"} and pair.share > 0.95


def test_solutions_written_without_each_other_are_not():
    made = found(SOLUTIONS)
    assert made.compared == len(SOLUTIONS) and not made.pairs and not made.groups
    for one in SOLUTIONS:
        for other in SOLUTIONS:
            assert one == other or raw_share(SOLUTIONS[one], SOLUTIONS[other]) < 0.2


@pytest.mark.parametrize("many", [40, 120])
def test_in_a_class_the_copy_is_found_and_nobody_else(many):
    some = a_class(many, seed=many)
    assert not found(some).pairs
    some["zoe"] = all_at_once(some["s00003"])
    made = found(some)
    assert [(pair.left, pair.right) for pair in made.pairs] == [
        ("s00003", "zoe")
    ] and made.groups == (("s00003", "zoe"),)
    assert made.pairs[0].share == 1 and made.compared == many + 1


def test_half_a_copy_has_half_the_share_and_says_whose():
    one, other = SOLUTIONS["the book"], SOLUTIONS["functions"]
    made = found({"ada": one, "ben": [*one[:3], *other[3:]]}, share=0.3)
    (pair,) = made.pairs
    assert (
        pair.left_share
        == pytest.approx(raw_share(one, [*one[:3], *other[3:]]) if len(one) else 0, abs=0.2)
        and 0.3 < pair.share < 0.8
    )
    assert not found({"ada": one, "ben": [*one[:3], *other[3:]]}, share=0.9).pairs


def test_what_was_released_counts_for_nobody():
    made = found({"ada": EMPTY, "ben": [cell.replace("...", "None") for cell in EMPTY]})
    assert not made.pairs and not made.groups and made.short == 2


def test_a_released_cell_that_both_changed_a_little_counts_for_nobody():
    changed = EXPLORE.replace("range(15)", "range(12)").replace(
        "plt.show()", "plt.grid()\n    plt.show()"
    )
    assert changed != EXPLORE
    made = found({"ada": [changed], "ben": [changed + "\n"]})
    assert not made.pairs and made.short == 2
    kept = {"ada": [changed, *SOLUTIONS["the book"]], "ben": [changed, *SOLUTIONS["short"]]}
    assert not found(kept, share=0.1).pairs
    left, right = both_sides(*kept.values())
    assert left.marks[:4] == right.marks[:4] == (0,) * 4  # up to the first line that was changed


def test_what_many_wrote_is_the_task_s_and_the_same_throughout_is_listed():
    some = {
        f"s{i:02}": SOLUTIONS["the book"] if i % 2 else renamed(SOLUTIONS["the book"])
        for i in range(20)
    }
    made = found(some)
    assert (
        not made.pairs
        and made.common
        and [len(group) for group in made.groups] == [20]
        and made.short == 20
        and made.compared == 0
    )
    text = page(some)
    assert "0 submissions were compared, each with each.  Not compared: 20 submissions" in text
    assert "the same code and the same written answers" in text


def test_written_answers_are_compared_as_well():
    text = "**Your answer: reply**\n\n" + " ".join(
        f"word{i} because of reason{i % 7}" for i in range(40)
    )
    some = [
        Submission(name, "", notebook([SETUP], [text + more]))
        for name, more in (("ada", ""), ("ben", "\n\nAnd so on."))
    ]
    made = similar.find(some, GIVEN)
    assert len(made.pairs) == 1 and made.pairs[0].share > 0.9


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_are_those_of_sets_compared_each_with_each(seed):
    some = a_class(30, seed)
    draw = random.Random(seed)
    for i in range(6):  # copies of parts
        some[f"t{i}"] = [*some[f"s{i:05}"][: draw.randrange(2, 6)], *SOLUTIONS["short"][:2]]
    sets = {
        student: {
            int(run) for run in similar.runs(similar.student_cells(notebook(cells), GIVEN), GIVEN)
        }
        for student, cells in some.items()
    }
    counts = Counter(run for one in sets.values() for run in one)
    sets = {
        student: {run for run in one if counts[run] <= max(4, len(some) // 8)}
        for student, one in sets.items()
    }
    expected = {}
    for one in sorted(sets):
        for other in sorted(sets):
            shared = len(sets[one] & sets[other])
            if (
                one < other
                and shared >= similar.FEWEST
                and shared >= 0.5 * min(len(sets[one]), len(sets[other]))
            ):
                expected[one, other] = shared / len(sets[one]), shared / len(sets[other])
    assert expected
    made = {
        (pair.left, pair.right): (pair.left_share, pair.right_share) for pair in found(some).pairs
    }
    assert set(made) == set(expected) and all(
        made[pair] == pytest.approx(expected[pair]) for pair in made
    )


def test_the_order_of_submissions_does_not_matter():
    some = a_class(25, 4) | {"zoe": all_at_once(a_class(25, 4)["s00002"])}
    back = dict(reversed(some.items()))
    assert found(some) == found(back)


# Text of strangers

HOSTILE = [
    "'" * 50_000,
    '"""' + "\\" * 50_000,
    "(" * 50_000,
    ")]}" * 10_000,
    "1_" * 30_000,
    "9" * 60_000,
    "\\" * 50_000,
    "def f(" * 9_000,
    "\x00\x01\u202e",
    "f'{" * 15_000,
    "é" * 50_000,
    "if x:\n" + "\n".join(" " * i + "if x:" for i in range(300)),
    "%%bash\nrm -rf /",
    "0x",
    "1e",
    "...." * 9_000,
    "import os; os.system('touch /tmp/handful-ran')",
    "lambda " * 5_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_split_and_bounded(text):
    made = similar.student_cells(notebook([text, text[::-1]]), GIVEN)
    assert sum(len(source) for source, _ in made) <= similar.MOST_CHARACTERS
    assert len(similar.runs(made, GIVEN)) <= MOST_SHINGLES


@given(st.text(alphabet="ab1_.'\"\\\n#()[]{}=+-*,;: \t\réx", max_size=200))
@settings(max_examples=400, deadline=None)
def test_splitting_loses_no_line_and_never_fails(text):
    made = tokens(text)
    assert all(0 <= token.line <= text.count("\n") and token.text for token in made)
    assert len(list(shingles(made))) == (max(1, len(made) - K + 1) if made else 0)


@given(st.permutations(range(6)), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_cells_in_any_order_have_the_same_runs(order, way):
    cells = list(SOLUTIONS.values())[way]
    assert (
        similar.runs(
            similar.student_cells(notebook([cells[i] for i in order]), GIVEN), GIVEN
        ).tolist()
        == similar.runs(similar.student_cells(notebook(cells), GIVEN), GIVEN).tolist()
    )


def test_files_that_are_no_notebook_are_counted_and_stop_nothing():
    some = [
        *handed_in({"ada": SOLUTIONS["short"], "ben": renamed(SOLUTIONS["short"])}),
        Submission("cy", "x", b"{"),
        Submission("di", "x", None),
        Submission("eve", "x", b"[" * 100_000),
        Submission("fay", "x.pdf", None, refused="No notebook was handed in."),
    ]
    told = []
    made = similar.find(some, GIVEN, progress=told.append)
    assert (
        made.unread == ("cy", "eve", "fay")
        and made.nothing == 1
        and made.compared == 2
        and len(made.pairs) == 1
        and told == [1, 2, 3, 4, 5, 6]
    )


# The page


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def page(some, share=similar.SHARE):
    submissions = handed_in(some)
    made = similar.find(submissions, GIVEN, share)
    return similar_page.page_of(
        "Write the roofline", made, GIVEN, similar_page.texts(submissions, made, GIVEN), share
    )


def test_the_page_shows_passages_and_calls_them_no_proof():
    text = page({"ada": SOLUTIONS["the book"], "ben": all_at_once(SOLUTIONS["the book"])})
    assert (
        "Similarity is no proof." in text
        and "ada and ben" in text
        and text.count('class="same"') > 20
        and "In a class this small" in text
    )
    assert (
        "asleep = (1 - given[&quot;active_experts&quot;]" in text and "default-src 'none'" in text
    )


def both_sides(one, other):
    return similar.sides(
        *(similar.student_cells(notebook(cells), GIVEN) for cells in (one, other)), GIVEN
    )


@pytest.mark.parametrize("name", list(SOLUTIONS))
def test_passages_with_the_same_number_belong_together(name):
    cells = SOLUTIONS[name]
    left, right = both_sides(cells, renamed(cells))
    assert left.marks == right.marks and sum(mark > 0 for mark in left.marks) > 0.8 * sum(
        bool(line.strip()) for line in left.lines
    )
    left, right = both_sides(cells, reordered(cells))
    assert (
        Counter(zip(left.lines, left.marks, strict=True))
        == Counter(zip(right.lines, right.marks, strict=True))
        and left != right
    )
    left, right = both_sides(cells, [EXPLORE])
    assert not any((*left.marks, *right.marks))


def test_hostile_names_and_code_stay_text_on_the_page():
    evil = "<script>alert(1)</script>"
    cells = [
        *SOLUTIONS["short"],
        f"note = '{evil}</style>\u202e' # \"><img src=x onerror=alert(1)>\nbig = '"
        + "x" * 5_000
        + "'",
    ]
    text = page({evil: cells, "</title>\u2066ben": cells})
    reader = Tags()
    reader.feed(text)
    assert (
        not {tag for tag, _ in reader.found} & {"script", "img", "iframe", "form", "link"}
        and text.count("</style>") == 1
    )
    assert not [
        name
        for _, attributes in reader.found
        for name in attributes
        if name.startswith("on") or name == "style"
    ]
    assert (
        not re.search("[\u202a-\u202e\u2066-\u2069]", text)
        and "more characters" in text
        and len(text) < 100_000
    )


def test_a_page_without_pairs_says_so():
    text = page(SOLUTIONS)
    assert "No two submissions share 50 %" in text and "<section" not in text
    assert "0 submissions were compared" in page({})


def test_many_pairs_are_cut_and_counted(monkeypatch):
    monkeypatch.setattr(similar, "MOST_PAIRS", 3)
    made = found({f"s{i}": SOLUTIONS["short"] for i in range(4)})
    assert len(made.pairs) == 3 and made.more == 3


# The command, on the book's own assignment


def test_the_command_finds_the_copy_among_the_book_s_own_notebooks(tmp_path, capsys):
    roofline = assignments()["roofline"]
    folder = tmp_path / "class"
    folder.mkdir()
    solved = notebooks.notebook(roofline, "ada", "solution")
    (folder / "ada.ipynb").write_text(json.dumps(solved))
    copied = json.loads(json.dumps(notebooks.notebook(roofline, "ben", "solution")))
    for cell in copied["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "step_time" in source and "max(" in source:
            cell["source"] = "# mine\n" + source.replace("flops", "work").replace("read", "moved")
    copied["cells"].reverse()
    (folder / "ben.ipynb").write_text(json.dumps(copied))
    (folder / "cy.ipynb").write_text(json.dumps(notebooks.notebook(roofline, "cy", "empty")))
    cells = iter(SOLUTIONS["short"])
    other = json.loads(json.dumps(notebooks.notebook(roofline, "di", "empty")))
    other["cells"] += [
        {
            "cell_type": "code",
            "source": cell,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "id": f"c{i}",
        }
        for i, cell in enumerate(cells)
    ]
    (folder / "di.ipynb").write_text(json.dumps(other))
    page = tmp_path / "similar.html"
    assert (
        cli.main(
            [
                "assign",
                "similar",
                str(folder),
                "--assignment",
                "roofline",
                "-o",
                str(page),
                "--json",
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (
        [(pair["left"], pair["right"]) for pair in told["pairs"]] == [("ada", "ben")]
        and told["compared"] == 3
        and told["not_compared"] == 1
    )
    assert "ada and ben" in page.read_text() and "Similarity is no proof" in page.read_text()
    again = ["assign", "similar", str(folder), "--assignment", "roofline", "-o", str(page)]
    assert cli.main(again) == 0
    assert "3 compared, 1 with too little of their own, 1 pair from" in capsys.readouterr().out
    # In a download of Canvas, a roster has the ids; without one, files have other names.
    (folder / "ada.ipynb").rename(folder / "lovelaceada_12_67_roofline.ipynb")
    (folder / "ben.ipynb").rename(folder / "byronben_13_68_roofline.ipynb")
    (folder / "cy.ipynb").rename(folder / "youngcy_14_69_roofline.ipynb")
    (folder / "di.ipynb").rename(folder / "dudi_15_70_roofline.ipynb")
    roster = tmp_path / "gradebook.csv"
    roster.write_text(
        'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",12,ada,Mo\n"Byron, Ben",13,ben,Mo\n'
    )
    for more, pair in (
        ([], ("byronben_13", "lovelaceada_12")),
        (["--roster", str(roster)], ("ada", "ben")),
    ):
        assert cli.main([*again, "--json", *more]) == 0
        pairs = json.loads(capsys.readouterr().out)["pairs"]
        assert [(one["left"], one["right"]) for one in pairs] == [pair]


@pytest.mark.parametrize(
    ["share", "said"],
    [
        ("0", "above 0 and at most 1"),
        ("much", "above 0 and at most 1"),
        ("101%", "above 0 and at most 1"),
    ],
)
def test_a_share_that_is_none_is_refused(share, said, capsys):
    assert cli.main(["assign", "similar", "x", "--assignment", "roofline", "--share", share]) == 2
    assert said in capsys.readouterr().err
    assert cli.main(["assign", "similar", "no-such-folder", "--assignment", "roofline"]) == 2
