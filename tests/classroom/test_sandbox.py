"""Tests of the sandbox with hostile and honest submissions.

The hostile ones are in tests/data/hostile.toml; nothing here runs student code outside of the
sandbox.
"""

import fcntl
import hashlib
import itertools
import json
import math
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from handful_classroom.sandbox import (
    bubblewrap,
    cgroup,
    memory,
    protocol,
    run,
    sandbox_process,
    seccomp,
)
from handful_classroom.sandbox.protocol import Answer, Limits, ProtocolError
from handful_classroom.sandbox.run import SandboxError, ask

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the sandbox is bubblewrap, which is Linux's"
)

ATTACKS = tomllib.loads((Path(__file__).parents[1] / "data" / "hostile.toml").read_text())
SMALL = {
    "cell_seconds": 0.5,
    "call_seconds": 0.4,
    "total_seconds": 30.0,
    "patience": 3.0,
    "memory_bytes": 400 << 20,
    "disk_bytes": 4 << 20,
    "processes": 24,
}
HONEST = "def double(x):\n    return 2 * x"
DOUBLE = {"call": "double", "arguments": {"x": 21}, "question": "double"}
REQUESTS = [{"call": "prize", "arguments": {"x": 31337}, "question": "prize"}, DOUBLE]
PRIZE = 4242
# Written so that it is no number of any other program's: processes of this run are found by it.
MARK = f"7{os.getpid():07d}.25"


def left_behind(grader=None):
    """Return the processes of a grader's sandboxes that are still there.

    They are known by the worker's own mark, and by what attacks start.
    """
    grader, found = grader or os.getpid(), []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"handful-{grader}".encode() in words or MARK.encode() in words:
                found.append((folder.name, words))
    return found


def tree(folder):
    """Names and contents below a folder, as one digest."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(
            f"{path}{path.stat().st_mode}".encode() + (path.read_bytes() if path.is_file() else b"")
        )
    return total.hexdigest()


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Make a folder that nothing may touch and servers that nobody may reach.

    The servers listen on TCP and on an abstract socket.
    """
    canary = tmp_path_factory.mktemp("canary")
    (canary / "deep").mkdir()
    (canary / "deep" / "grades.csv").write_text("ada,10\n")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0handful-{MARK}")
        unix.listen()
        for server in (tcp, unix):
            server.setblocking(False)
        yield canary, tcp, unix


def attack(name, outside, **changed):
    canary, tcp, _ = outside
    one = ATTACKS[name]
    code = one["code"]
    for word, text in (
        ("CANARY", str(canary)),
        ("SOURCE", str(bubblewrap.HERE)),
        ("PORT", str(tcp.getsockname()[1])),
        ("MARK", MARK),
    ):
        code = code.replace(word, text)
    limits = Limits(**{**SMALL, **one.get("limits", {}), **changed})
    return one, ask([code] * one.get("cells", 1) + [HONEST], REQUESTS, {"batch": 4}, limits)


def any_of(expected):
    return [expected] if isinstance(expected, str) else expected


# After these, which use up what all share, the next submission is asked at once; the others are
# followed by each other.
EXHAUSTING = ("bomb", "memory", "disk", "orphan", "kill", "stop", "pipe", "files")


def held(one, outcome, outside, before, name):
    """Assert that an attack came to nothing.

    No point is gained, nothing outside touched or reached, nothing left behind; there is a sentence
    for the student, and the next one is served.
    """
    canary, *servers = outside
    prize, double = outcome.answers
    assert prize.status in any_of(one["prize"]), outcome
    assert prize.value != PRIZE and not (isinstance(prize.value, str) and str(PRIZE) in prize.value)
    if prize.status == "value":
        assert "result" not in one or prize.value == one["result"]
    else:
        assert one.get("says", "") in prize.says and prize.says.strip()
        assert prize.says.isprintable() and len(prize.says) <= protocol.LONGEST_SAYS
    assert double.status in any_of(one.get("rest", "value")), outcome
    if "cell" in one:
        assert outcome.cells[0].status == one["cell"]
    assert tree(canary) == before
    for server in servers:
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not left_behind()
    if any(word in name for word in EXHAUSTING):
        assert ask([HONEST], [DOUBLE], limits=Limits(total_seconds=60)).answers == (
            Answer("value", 42),
        )


@pytest.fixture(autouse=True)
def brisk(monkeypatch):
    monkeypatch.setattr(run, "GRACE", 0.5)
    monkeypatch.setenv("HANDFUL_SECRET", "the teacher's key")


# How sandboxes are made: as this machine makes them; in a user namespace, as for a teacher who is
# not root; and without control groups.
WAYS = ["as_here", "in_a_namespace", "without_groups"]


@pytest.fixture
def way(request, monkeypatch):
    if request.param == "in_a_namespace":
        if os.geteuid() != 0:
            pytest.skip("whoever is not root has no other way")
        monkeypatch.setattr(sandbox_process, "as_root", lambda: False)
    if request.param == "without_groups":
        if os.geteuid() != 0:
            pytest.skip(
                "without control groups, all processes of a user count, and this one has others"
            )
        monkeypatch.setattr(cgroup, "homes", lambda: (0, ()))
        monkeypatch.setattr(cgroup, "scope", lambda: None)
    return request.param


@pytest.mark.sandbox
@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("name", list(ATTACKS))
def test_a_hostile_submission_gains_nothing_and_costs_nobody_else(name, way, outside):
    before = tree(outside[0])
    one, outcome = attack(name, outside, **({"processes": 8} if way == "without_groups" else {}))
    held(one, outcome, outside, before, name)


# Honest notebooks


def values(cells, *names, **named):
    return [
        answer.value for answer in ask(cells, [{"get": name} for name in names], **named).answers
    ]


@pytest.mark.sandbox
def test_input_and_keys_that_are_the_same_as_text_are_explained():
    cells = ["n = int(input('how many? '))", "d = {1: 2, '1': 3}", "e = {1: 2, '2': 3}"]
    read, twice, once = ask(cells, [{"get": name} for name in "nde"]).answers
    assert read.status == "error"
    assert "input() has nobody here who types; write the value into the notebook" in read.says
    assert (twice.status, once.value) == ("error", {"1": 2, "2": 3})
    assert "two keys that are the same as text: 1" in twice.says


@pytest.mark.sandbox
def test_plain_data_comes_back_as_it_is():
    code = (
        "value = {'a': [1, -2.5, True, None, 'é\\n\"'], 'b': {'c': (1, 2), 3: []}, 'd': {}, "
        "'e': 10 ** 299}"
    )
    assert values([code], "value") == [
        {"a": [1, -2.5, True, None, 'é\n"'], "b": {"c": [1, 2], "3": []}, "d": {}, "e": 10**299}
    ]


@pytest.mark.sandbox
def test_floats_come_back_to_the_bit_with_nan_and_infinities():
    (found,) = values(
        [
            "value = [0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, float('inf'), "
            "-float('inf'), float('nan')]"
        ],
        "value",
    )
    assert (
        found[:6] == [0.1 + 0.2, 5e-324, 0.0, 1.7976931348623157e308, math.inf, -math.inf]
        and math.copysign(1, found[2]) == -1
    )
    assert math.isnan(found[6])


@pytest.mark.sandbox
def test_numbers_of_numpy_and_sympy_are_numbers():
    cells = [
        "import numpy as np\nimport sympy",
        "a = np.arange(6.0).reshape(2, 3)",
        "b = [np.float32(0.5), np.int64(7), np.bool_(True)]",
        "c = sympy.Rational(1, 4) + sympy.Integer(3)",
        "d = sympy.Integer(10) ** 20",
        "e = sympy.Symbol('x') * 2",
    ]
    outcome = ask(cells, [{"get": name} for name in "abcd"] + [{"text": "e"}, {"get": "e"}])
    assert [answer.value for answer in outcome.answers[:5]] == [
        [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        [0.5, 7, True],
        3.25,
        10**20,
        "2*x",
    ]
    assert outcome.answers[5].status == "error" and "Mul" in outcome.answers[5].says


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "value", ["{1, 2}", "object()", "1j", "b'x'", "{(1, 2): 3}", "range(3)", "len", "int"]
)
def test_what_is_no_plain_data_is_an_error_in_words(value):
    (answer,) = ask([f"value = {value}"], [{"get": "value"}]).answers
    assert answer.status == "error" and answer.says.startswith(
        "What it gave cannot be handed in: it "
    )


MISSING = {
    "nothing": "pass",
    "dots": "value = ...",
    "no_answer_in_a_function": "def value(): raise NotImplementedError('your code here')",
    "a_function_that_gives_dots": "def value(): ...\nvalue = lambda: ...",
    "left_empty_above": "raise NotImplementedError\nvalue = 1",
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", list(MISSING))
def test_what_is_left_empty_is_missing(name):
    request = {"call": "value", "arguments": {}} if "function" in name else {"get": "value"}
    (answer,) = ask([MISSING[name]], [request]).answers
    assert answer.status == "missing" and "value" in answer.says


@pytest.mark.sandbox
def test_a_name_whose_cell_stopped_tells_why_and_where():
    cells = ["first = 1", "x = 0\nvalue = 1 / x", "other = 2", "def broken(:\n    pass"]
    outcome = ask(cells, [{"get": "value"}, {"get": "other"}, {"get": "broken"}])
    assert outcome.answers[0] == Answer(
        "error", None, "Cell 2, which should make it, stopped: ZeroDivisionError: division by zero"
    )
    assert outcome.answers[1].value == 2
    assert (
        outcome.answers[2].status == "error"
        and "Cell 4" in outcome.answers[2].says
        and "SyntaxError" in outcome.answers[2].says
    )
    assert [(error.cell, error.line) for error in outcome.cells] == [(1, 2), (3, 1)]


@pytest.mark.sandbox
def test_what_is_no_function_cannot_be_called_and_wrong_arguments_are_the_functions_error():
    answers = ask(
        ["value = 3\ndef f(a): return a"],
        [{"call": "value", "arguments": {}}, {"call": "f", "arguments": {"b": 1}}],
    ).answers
    assert [answer.status for answer in answers] == ["error", "error"]
    assert "no function" in answers[0].says and "unexpected keyword argument 'b'" in answers[1].says


@pytest.mark.sandbox
def test_the_inputs_are_there_and_the_library_is_not():
    cells = [
        "from handful_room import given, check",
        "batch = given['batch']\ncheck('batch')",
        "import handful.latency",
    ]
    outcome = ask(cells, [{"get": "batch"}, {"get": "given"}], {"batch": 64, "rate": 1e12})
    assert [answer.value for answer in outcome.answers] == [64, {"batch": 64, "rate": 1e12}]
    assert [error.cell for error in outcome.cells] == [2]
    assert "No module named 'handful'" in outcome.cells[0].says


@pytest.mark.sandbox
def test_with_the_library_handful_is_there_and_the_classroom_is_not():
    cells = [
        "from handful import latency",
        "import os\nrooms = [name for name in os.listdir('/room') if name.startswith('handful')]",
        "from handful_classroom import sandbox",
    ]
    outcome = ask(cells, [{"get": "rooms"}], library=True)
    assert [error.cell for error in outcome.cells] == [2]
    assert set(outcome.answers[0].value) == set(bubblewrap.READERS)


MAGICS = {
    "lines": "%matplotlib inline\nimport math\n!pip install x\nif True:\n    %time value = 3\n"
    "    !ls\n?len\nvalue?\nvalue = value + 1",
    "in_text": 'value = """\n%time\n!ls\n"""\nvalue = value.count("%") + value.count("!") + 2',
    "continued": "value = (13\n% 9)",
    "whole_cell": "%%time\nvalue = 4",
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", list(MAGICS))
def test_lines_that_are_the_notebooks_own_are_left_out(name):
    assert values(
        [MAGICS[name], "%%bash\nvalue=5", "%%writefile value.py\nvalue = 6"], "value"
    ) == [4]


@pytest.mark.sandbox
def test_pictures_and_widgets_do_nothing():
    cells = [
        "import matplotlib.pyplot as plt\nfrom ipywidgets import interact, IntSlider\n"
        "from IPython.display import display, Markdown",
        "@interact(x=(0, 10))\ndef f(x=3): return x + slider.value\n"
        "slider = IntSlider(value=4, min=0)\ndisplay(slider, Markdown('a'))",
        "import sys\nlazy = type(sys.modules['matplotlib.pyplot']).__name__",
        "get_ipython().run_line_magic('matplotlib', 'inline')\nfrom google.colab import files",
        "figure, axes = plt.subplots()\naxes.plot([1, 2])\nplt.show()\nn = len(axes.lines)",
    ]
    outcome = ask(cells, [{"call": "f", "arguments": {"x": 1}}, {"get": "lazy"}, {"get": "n"}])
    assert [answer.value for answer in outcome.answers] == [5, "Later", 1] and not outcome.cells


IMPORTS = [
    "import numpy as np\nvalue = float(np.sqrt(4.0))",
    "from numpy import *\nvalue = float(sqrt(4.0))",
    "import numpy.linalg\nvalue = float(numpy.linalg.det([[2.0]]))",
    "from numpy import linalg\nvalue = float(linalg.det([[2.0]]))",
    "import numpy as np, numpy.linalg as la\nvalue = 2.0 * (np.linalg is la)",
    "from scipy.optimize import brentq\nvalue = round(brentq(lambda x: x - 2, 0, 3), 9)",
    "import matplotlib.ticker\nvalue = matplotlib.ticker.MaxNLocator and 2.0",
    "try:\n    import no_such_package\nexcept ModuleNotFoundError as error:\n"
    "    value = 2.0 * ('no_such' in str(error))",
]


@pytest.mark.sandbox
@pytest.mark.parametrize("code", IMPORTS)
def test_packages_that_wait_are_there_when_they_are_touched(code):
    assert values([code], "value") == [2.0]


HONEST_WAYS = {
    "files": "import tempfile, pathlib, shutil\nwith tempfile.TemporaryDirectory() as folder:\n"
    "    file = pathlib.Path(folder, 'a')\n"
    "    file.write_text('7')\n    value = int(shutil.copy2(file, "
    "file.with_name('b')).read_text())",
    "processes": "from multiprocessing import get_context\nwith "
    "get_context('fork').Pool(2) as pool:\n"
    "    value = sum(pool.map(abs, [-3, -4]))",
    "shared_memory": "from multiprocessing import Array, shared_memory\n"
    "value = sum(Array('i', [3, 4]))\n"
    "piece = shared_memory.SharedMemory(create=True, size=8)\npiece.close()\npiece.unlink()",
    "programs": "import subprocess\nvalue = int(subprocess.run(['/usr/bin/expr', '3', '+', '4'], "
    "capture_output=True, text=True).stdout)",
    "tasks": "import asyncio\nasync def seven():\n    await asyncio.sleep(0)\n    return 7\n"
    "value = asyncio.run(seven())",
    "threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as "
    "pool:\n    value = sum(pool.map(abs, [-3, -4]))",
    "callbacks": "import ctypes\n"
    "kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)\n"
    "numbers = (ctypes.c_int * 3)(9, 8, 7)\n"
    "ctypes.CDLL(None).qsort(numbers, 3, 4, kind(lambda a, b: a[0] - b[0]))\nvalue = numbers[0]",
    "figures": "import matplotlib.figure\nimport io\nfrom matplotlib.backends.backend_agg import "
    "FigureCanvasAgg\n"
    "figure = matplotlib.figure.Figure()\nfigure.subplots().plot([1, 2])\nfile = io.BytesIO()\n"
    "FigureCanvasAgg(figure).print_png(file)\nvalue = 7 * file.getvalue().startswith(b'\\x89PNG')",
    "matrices": "import numpy as np\nvalue = "
    "float(np.trace(np.linalg.inv(np.eye(7)) @ np.eye(7)))\n"
    "kept = np.memmap('/tmp/kept', float, 'w+', shape=9)\nkept[:] = 1\nkept.flush()",
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", list(HONEST_WAYS))
def test_what_honest_notebooks_do_with_the_machine_is_let(name):
    outcome = ask([HONEST_WAYS[name]], [{"get": "value"}])
    assert not outcome.cells and [answer.value for answer in outcome.answers] == [7]


@pytest.mark.sandbox
def test_a_database_in_a_file_is_locked_and_works():
    code = (
        "import sqlite3\nfor number in (3, 4):\n    with sqlite3.connect('/desk/kept') as kept:\n"
        "        kept.execute('create table if not exists numbers (n)')\n"
        "        kept.execute('insert into numbers values (?)', (number,))\n"
        "    kept.close()\nvalue = sqlite3.connect('/desk/kept').execute('select sum(n) from "
        "numbers').fetchone()[0]"
    )
    assert values(
        ["import importlib.util\nhere = importlib.util.find_spec('_sqlite3') is not None", code],
        "value",
        "here",
    ) in ([7, True], [None, False])


@pytest.mark.sandbox
def test_nothing_of_this_machine_shows_in_messages_or_order():
    cells = [
        "from math import nothing",
        "value = list({'a', 'b', 'c', 'd', 'e'})",
        "thing = object()\nraise ValueError(thing)",
    ]
    first, second = (ask(cells, [{"get": "value"}, {"text": "thing"}]) for _ in range(2))
    assert first == second
    text = " ".join(cell.says for cell in first.cells)
    assert "0x…" in text and str(Path.home()) not in text and str(bubblewrap.COURSE) not in text


@pytest.mark.sandbox
def test_one_slow_case_does_not_cost_the_others_and_three_are_not_waited_for():
    code = "def f(x):\n    while x: pass\n    return 1"
    requests = [{"call": "f", "arguments": {"x": x}, "question": "f"} for x in (0, 1, 0, 1, 1, 0)]
    outcome = ask([code], requests, limits=Limits(call_seconds=0.3))
    assert [answer.status for answer in outcome.answers] == [
        "value",
        "timeout",
        "value",
        "timeout",
        "timeout",
        "timeout",
    ]
    assert "not asked again" in outcome.answers[4].says and outcome.end == "whole"


@pytest.mark.sandbox
def test_a_question_that_ends_the_process_takes_its_own_requests_with_it_only():
    code = "import os\ndef f(x):\n    if x: os._exit(1)\n    return 1\ndef g(): return 2"
    requests = [{"call": "f", "arguments": {"x": x}, "question": "f"} for x in (0, 1, 0)]
    requests.insert(2, {"call": "g", "arguments": {}, "question": "g"})
    outcome = ask([code], requests)
    assert [answer.status for answer in outcome.answers] == [
        "value",
        "killed",
        "value",
        "killed",
    ] and outcome.end == "killed"


@pytest.mark.sandbox
def test_restarts_and_the_total_are_bounded():
    code = "import os\ndef f(): os._exit(1)"
    requests = [{"call": "f", "arguments": {}, "question": str(number)} for number in range(6)]
    outcome = ask([code], requests, limits=Limits(restarts=2))
    assert [answer.status for answer in outcome.answers] == [
        "killed"
    ] * 6 and "not asked any more" in outcome.answers[5].says
    late = ask(
        ["import time\ntime.sleep(60)"] * 9 + [HONEST],
        [DOUBLE],
        limits=Limits(cell_seconds=0.4, total_seconds=1.5),
    )
    assert late.answers[0].status == "timeout" and "whole notebook" in late.says


def test_code_without_end_is_not_run():
    assert ask(["x = 1\n" * 10**6], [{"get": "x"}]).answers[0].status == "error"


# Many at once, and what is left of them


def square(number):
    return [f"def f(x):\n    return {number} * x"], [{"call": "f", "arguments": {"x": number}}]


@pytest.mark.sandbox
@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_many_ask_at_once_without_mixing_answers(kind):
    with (
        kind(4) if kind is ThreadPoolExecutor else kind(2, mp_context=get_context("spawn")) as pool
    ):
        waiting = [pool.submit(ask, *square(number)) for number in range(6)]
        assert [one.result().answers[0].value for one in waiting] == [
            number**2 for number in range(6)
        ]


@pytest.mark.sandbox
def test_a_grader_with_many_open_files_asks_as_well():
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(600)]
    try:
        assert ask(*square(3)).answers[0].value == 9
    finally:
        for fd in held:
            os.close(fd)


@pytest.mark.sandbox
def test_nothing_is_left_open_or_lying_about():
    ask(*square(1))
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for code in ("x = 1", "import os\nos._exit(1)", "import time\ntime.sleep(60)"):
        ask([code], [{"get": "x"}], limits=Limits(cell_seconds=0.2))
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
    _, places = cgroup.homes()
    assert (
        not [folder for place in places for folder in place.glob(f"handful-{os.getpid()}-*")]
        and not left_behind()
    )


GRADER = """
from handful_classroom.sandbox.run import ask
ask(["import os, signal\\nfor number in range(1, 30):\\n"
     "    try: signal.signal(number, signal.SIG_IGN)\\n    except OSError: pass\\n"
     "for _ in range(3): os.fork()\\n"
     "os.setsid() if os.getpid() > 3 else None\\nwhile True: pass"], [{"get": "x"}])
"""


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, None])
def test_a_grader_that_is_killed_leaves_no_process(seconds):
    grader = subprocess.Popen(
        [sys.executable, "-P", "-c", GRADER],
        env={**os.environ, "PYTHONPATH": str(bubblewrap.LIBRARY)},
    )
    until = time.monotonic() + 60
    if seconds is None:  # when the attack runs
        while len(left_behind(grader.pid)) < 4 and time.monotonic() < until:
            time.sleep(0.02)
    else:
        time.sleep(seconds)
    grader.kill()
    grader.wait()
    soon = time.monotonic() + 15
    while left_behind(grader.pid) and time.monotonic() < soon:
        time.sleep(0.02)
    # bubblewrap itself, killed while it makes the walls, may leave its inner half waiting; the next
    # grader ends that.
    assert all(words[0].endswith(b"bwrap") for _, words in left_behind(grader.pid))
    for home in cgroup.homes()[1]:
        cgroup._sweep(home)
    while left_behind(grader.pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left_behind(grader.pid)


# The parts


def test_memory_is_counted_over_all_that_a_process_started_and_shared_pages_once():
    """Of three processes, one holds 40 MB that all three share since they were forked.

    Each of them holds 20 MB of its own.
    """
    code = (
        "import os, sys, time\nshared = bytearray(b'x' * 40_000_000)\nfor _ in range(2):\n"
        "    if os.fork() == 0: break\n"
        "own = bytearray(b'y' * 20_000_000)\nprint('ready', flush=True)\ntime.sleep(60)"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            for _ in range(3):
                process.stdout.readline()
            family = memory.family(process.pid)
            assert len(family) == 3 and family[0] == process.pid
            assert 180e6 < memory.held(process.pid, 1 << 40) < 230e6  # shared pages three times
            assert 100e6 < memory.held(process.pid, 10**6) < 130e6
        finally:
            os.killpg(process.pid, 9)
    assert memory.held(process.pid, 10**6) == 0


NO_REPLY = [
    b"",
    b"{",
    b"[]",
    b"{}",
    b"1",
    b'{"request":true}',
    b'{"request":-1}',
    b'{"request":1e2}',
    b'{"request":0,"status":"value","value":01}',
    b'{"request":0,"status":"right","value":1}',
    b'{"request":0,"status":"value","value":1,"points":9}',
    b'{"request":0,"request":1}',
    b'{"request":0,"cell":0}',
    b'{"request":0,"status":"value","value":{"a":1,"a":2}}',
    b'{"request":0,"status":"value","value":nan}',
    b'{"request":0,"status":"value","value":"\xff"}',
    b'{"request":0,"status":"value","value":"\\udfff"}',
    b'{"request":0} {}',
    b'{"request":0,"status":"value","value":' + b"[" * 21 + b"]" * 21 + b"}",
    b'{"request":0,"status":"value","value":' + b"9" * 302 + b"}",
    b'{"request":0,"says":["a"]}',
    b'{"cell":0,"status":"value","value":1}',
    b'{"cell":0,"status":"killed"}',
    b" " * 1_000_001,
]


@pytest.mark.parametrize("line", NO_REPLY, ids=range(len(NO_REPLY)))
def test_what_is_no_reply_is_refused(line):
    with pytest.raises(ProtocolError, match=r"^.{10,100}\.$"):
        protocol.read(line)


def test_a_reply_at_its_bounds_is_taken():
    nested = b"[" * 20 + b"]" * 20
    assert protocol.read(b'{"request":0,"status":"value","value":' + nested + b"}")[
        2
    ].value == json.loads(nested)
    assert protocol.read(b'{"request":0,"status":"value","value":' + b"9" * 300 + b"}")[
        2
    ].value == int("9" * 300)


@pytest.mark.parametrize(
    "name",
    [
        "cell_seconds",
        "call_seconds",
        "total_seconds",
        "patience",
        "memory_bytes",
        "disk_bytes",
        "processes",
    ],
)
def test_limits_have_to_be_above_zero(name):
    with pytest.raises(ValueError, match=f"^{name} has to be above 0; got -1.$"):
        Limits(**{name: -1})


@pytest.fixture
def anew():
    """Forgets what is known of this machine's bubblewrap, before and after."""
    for function in (bubblewrap.bubblewrap, bubblewrap.as_root, run.describe):
        function.cache_clear()
    yield
    for function in (bubblewrap.bubblewrap, bubblewrap.as_root, run.describe):
        function.cache_clear()


def test_without_bubblewrap_nothing_runs(anew, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *arguments, **named: None)
    for call in (run.describe, lambda: ask([HONEST], [DOUBLE])):
        with pytest.raises(SandboxError, match="install bubblewrap"):
            call()


FORBIDDEN = (
    "[ $1 = --version ] && echo bubblewrap 0.9.0 || { echo 'bwrap: setting up uid map: "
    "Permission denied' >&2; exit 1; }"
)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo bubblewrap 0.3.1", "install bubblewrap, 0.5 or newer"),
        (FORBIDDEN, "setting up uid map: Permission denied.*AppArmor"),
    ],
)
def test_a_bubblewrap_that_does_not_serve_is_said_to_and_nothing_runs(
    anew, monkeypatch, tmp_path, script, says
):
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxError, match=says):
        ask([HONEST], [DOUBLE])


@pytest.mark.sandbox
def test_a_sandbox_too_small_to_start_says_so():
    with pytest.raises(SandboxError, match="did not start"):
        ask([HONEST], [DOUBLE], limits=Limits(memory_bytes=1 << 20))


@pytest.mark.sandbox
def test_what_this_machine_has_is_described(anew, monkeypatch):
    assert run.describe().startswith("bubblewrap 0.")
    run.describe.cache_clear()
    monkeypatch.setattr(cgroup, "homes", lambda: (0, ()))
    monkeypatch.setattr(cgroup, "scope", lambda: None)
    monkeypatch.setattr(seccomp, "program", lambda: None)
    assert (
        "that of all together, by looking" in run.describe()
        and "no filter of system calls" in run.describe()
    )


@pytest.mark.sandbox
@pytest.mark.parametrize("as_root", [True, False])
def test_no_wall_is_left_out(as_root):
    """Attacks run into several walls at once, so each is looked for here too."""
    command = bubblewrap.bubblewrap_command(Limits(), False, as_root, {}, 7, 8)
    wanted = {
        "--unshare-net",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--seccomp",
    }
    assert wanted | (
        set()
        if as_root
        else {"--unshare-user", "--disable-userns"} & set(bubblewrap.bubblewrap()[2])
    ) <= set(command)
    pairs = list(itertools.pairwise(command))
    assert ("--cap-drop", "ALL") in pairs and {
        ("--remount-ro", "/"),
        ("--remount-ro", "/dev"),
    } <= set(pairs)
    writable = {there for one, there in pairs if one == "--tmpfs"} - {"/dev", *bubblewrap.UNSEEN}
    sizes = {
        command[place + 2]
        for place, word in enumerate(command)
        if word == "--size" and command[place + 1] == str(Limits().disk_bytes)
    }
    assert writable >= {"/tmp", "/desk", "/dev/shm"} and sizes == {"--tmpfs"}
    assert not {"--bind", "--bind-try", "--share-net", "--proc"} & set(command)
    shown = [Path(here) for word, here in pairs if word == "--ro-bind"]
    for hidden in (
        Path.home() / "x",
        bubblewrap.COURSE / "exercises",
        bubblewrap.COURSE / "book",
        Path("/etc/passwd"),
        Path("/proc/1"),
    ):
        assert not any(hidden.is_relative_to(here) for here in shown), hidden


def test_an_installed_package_and_a_course_below_what_is_shown_are_covered(monkeypatch, tmp_path):
    for name in ("handful", "handful_classroom"):
        (tmp_path / "site" / name).mkdir(parents=True)
    (tmp_path / "exercises").mkdir()
    monkeypatch.setattr(
        bubblewrap,
        "visible_paths",
        lambda: (((tmp_path, "/packages"),), "/python/bin/python3", ("/packages",)),
    )
    monkeypatch.setattr(bubblewrap, "LIBRARY", tmp_path / "site")
    monkeypatch.setattr(bubblewrap, "COURSE", tmp_path)
    view = bubblewrap.mounts(False)
    covered = {view[place + 1] for place, word in enumerate(view) if word == "--tmpfs"}
    assert covered - set(bubblewrap.UNSEEN) == {
        "/packages/site/handful",
        "/packages/site/handful_classroom",
        "/packages/exercises",
    }


def test_groups_that_a_killed_grader_left_are_swept_away(monkeypatch, tmp_path):
    ours, theirs = tmp_path / f"handful-{os.getpid()}-0", tmp_path / "handful-99999999-0"
    ours.mkdir()
    theirs.mkdir()
    cgroup._sweep(tmp_path)
    assert ours.exists() and not theirs.exists()


def test_groups_are_made_within_our_own_where_that_is_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroup, "TOP", tmp_path)
    monkeypatch.setattr(cgroup, "_own", lambda controller: "/jobs/7")
    own = tmp_path / "memory" / "jobs" / "7"
    own.mkdir(parents=True)
    (own / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert cgroup._home_1("memory") == tmp_path / "memory" and cgroup._home_1("pids") is None
    (own / "memory.limit_in_bytes").write_text("1000000000\n")
    assert cgroup._home_1("memory") == own


def test_groups_of_version_2_are_made_in_the_nearest_that_hands_on_memory_and_processes(
    monkeypatch, tmp_path
):
    top = tmp_path / "cgroup"
    monkeypatch.setattr(cgroup, "TOP", top)
    monkeypatch.setattr(cgroup, "_own", lambda controller: "/user/app/shell")
    user = top / "user"
    for folder, handed in (
        (top, "cpu memory pids"),
        (user, "memory pids"),
        (user / "app", "memory"),
        (user / "app" / "shell", ""),
    ):
        folder.mkdir()
        (folder / "cgroup.subtree_control").write_text(handed)
        (folder / "cgroup.procs").write_text("")
    assert cgroup._home_2() is None
    (top / "cgroup.controllers").write_text("cpu memory pids")
    assert cgroup._home_2() == top / "user"
    (top / "user" / "memory.max").write_text("")
    group = cgroup._make(2, (top / "user",), 1 << 30, 40)
    assert (
        group.doors == (f"{group.folders[0]}/cgroup.procs",)
        and group.folders[0].parent == top / "user"
        and not group.overflowed()
    )
    (group.folders[0] / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.overflowed()


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_numbers_of_system_calls_are_the_kernels(machine, header):
    if not Path(header).exists():
        pytest.skip(f"{header} is not on this machine")
    numbers = {}
    for line in Path(header).read_text().splitlines():
        words = line.split()
        if (
            len(words) == 3
            and words[0] == "#define"
            and words[1].startswith(("__NR_", "__NR3264_"))
            and words[2].isdecimal()
        ):
            numbers[words[1].removeprefix("__NR_").removeprefix("__NR3264_")] = int(words[2])
    column = list(seccomp.MACHINES).index(machine)
    rows = seccomp.REFUSED | {
        "clone": seccomp.CLONE,
        "clone3": seccomp.CLONE3,
        "fcntl": seccomp.FCNTL,
        "flock": seccomp.FLOCK,
    }
    known = {
        name: row[column]
        for name, row in rows.items()
        if row[column] is not None and name in numbers
    }
    assert len(known) > 60 and known == {name: numbers[name] for name in known}
    assert {"fcntl", "flock", "clone", "clone3"} <= set(known)


def test_numbers_of_commands_of_fcntl_are_pythons():
    named = seccomp.FCNTL_ALLOWED | seccomp.FCNTL_GRANTED
    assert {name: number for name, number in named.items() if hasattr(fcntl, name)} == {
        name: getattr(fcntl, name) for name in named if hasattr(fcntl, name)
    }
    assert sum(hasattr(fcntl, name) for name in named) >= 10


def verdict(program, machine, number, *arguments):
    """Return what a kernel answers to a system call.

    The filter is run step by step, as the manual of the packet filter says.
    """
    shown = struct.pack("=iIQ6Q", number, machine, 0, *(arguments + (0,) * 6)[:6])
    place, kept = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (kept,) = struct.unpack_from("=I", shown, value)
        else:
            place += (
                yes
                if {0x15: kept == value, 0x35: kept >= value, 0x45: bool(kept & value)}[code]
                else no
            )


@pytest.mark.parametrize(("name", "machine"), list(seccomp.MACHINES.items()))
def test_the_filter_answers_each_call_as_it_is_listed(name, machine):
    program, column = seccomp.program(name), list(seccomp.MACHINES).index(name)

    def told(number, *arguments):
        return verdict(program, machine, number, *arguments)

    allowed, refused = 0x7FFF0000, 0x00050000 | 1
    for row in seccomp.REFUSED.values():
        assert row[column] is None or told(row[column]) == refused
    file_control = seccomp.FCNTL[column]
    # All commands of fcntl, by their numbers in the kernel's headers.
    answers = {command: told(file_control, 3, command, 7) for command in range(2000)}
    assert {command for command, answer in answers.items() if answer == allowed} == {
        0,
        1,
        2,
        3,
        4,
        1030,
        1032,
    }
    assert {command for command, answer in answers.items() if answer == 0x00050000} == {
        6,
        7,
        37,
        38,
    }
    # F_GETLK, F_OFD_GETLK, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_SETDELEG
    assert {answers[command] for command in (5, 36, 1024, 1026, 1031, 1040)} == {refused}
    # The kernel looks at the lower half of a command only, and so does the filter.
    assert (
        told(file_control, 3, 1024 + (1 << 32), 1) == refused
        and told(file_control, 1024, 3) == allowed
    )
    assert told(seccomp.FLOCK[column], 3, 6) == 0x00050000
    assert (
        told(seccomp.CLONE[column], 0x10000011) == refused
        and told(seccomp.CLONE[column], 17) == allowed
    )
    assert told(seccomp.CLONE3[column]) == told(462) == 0x00050000 | 38
    assert verdict(program, 0x40000003, 1) == 0x80000000
    common = {
        "x86_64": (0, 1, 2, 3, 9, 16, 22, 53, 59, 257),
        "aarch64": (48, 56, 57, 59, 63, 64, 199, 221, 222),
    }[name]
    assert {told(number) for number in common} == {allowed}
