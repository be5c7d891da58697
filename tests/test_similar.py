"""Similar submissions: a copy is found through what copies are disguised with, and solutions of one's own are not."""
import builtins
import json
import keyword
import random
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from handful.classroom import similar, similar_page
from handful.classroom.submissions import Submission
from handful.classroom.tokens import K, MOST_SHINGLES, shingles, tokens
from hypothesis import given, settings
from hypothesis import strategies as st

SETUP = 'student = ""\nfrom handful_room import given'
EXPLORE = "import matplotlib.pyplot as plt\n\n\ndef draw(context):\n    batches = [2**i for i in range(15)]\n    times = [step_time(batch, context) for batch in batches]\n    plt.loglog(batches, times)\n    plt.show()"
EMPTY = [
    "# Seconds for each of the three, on all chips of the node together.\ntimes = ...",
    'def step_time(batch, context):\n    """Seconds that one decode step of `batch` sequences takes, each with `context` tokens behind it."""\n    raise NotImplementedError("your code here")',
    'def cost_per_million(seconds, batch):\n    """Dollars for a million tokens, when a step of `batch` sequences lasts `seconds`."""\n    raise NotImplementedError("your code here")',
    "balance_batch = ...",
    'def weight_bytes(batch):\n    """Bytes of weights that a step of `batch` sequences reads, on average."""\n    raise NotImplementedError("your code here")',
    "largest_batch = ...",
]
NAMES = ["times", "step_time", "cost_per_million", "balance_batch", "weight_bytes", "largest_batch", "devices", "memory_bandwidth", "total_parameters", "bytes_per_parameter", "batch",
         "context", "kv_bytes_per_token", "active_parameters", "peak_flops", "device_price", "routed_parameters", "active_experts", "experts", "memory_capacity", "speed"]
GIVEN = similar.released([SETUP, *EMPTY, EXPLORE], NAMES)

# Right solutions, each written without the others.
SOLUTIONS = {
    "the book": [
        '''# Seconds for each of the three, on all chips of the node together.
_read = given["devices"] * given["memory_bandwidth"]
times = {
    "weights": given["total_parameters"] * given["bytes_per_parameter"] / _read,
    "caches": given["batch"] * given["context"] * given["kv_bytes_per_token"] / _read,
    "compute": 2 * given["active_parameters"] * given["batch"] / (given["devices"] * given["peak_flops"]),
}''',
        '''def step_time(batch, context):
    read = given["total_parameters"] * given["bytes_per_parameter"] + batch * context * given["kv_bytes_per_token"]
    flops = 2 * given["active_parameters"] * batch
    return max(read / given["memory_bandwidth"], flops / given["peak_flops"]) / given["devices"]''',
        '''def cost_per_million(seconds, batch):
    rent = given["devices"] * given["device_price"]
    return 1e6 * rent * seconds / batch''',
        'balance_batch = "w * F * N / (2 * W * A)"',
        '''def weight_bytes(batch):
    asleep = (1 - given["active_experts"] / given["experts"]) ** batch
    return given["bytes_per_parameter"] * (given["total_parameters"] - given["routed_parameters"] * asleep)''',
        '''_weights = given["total_parameters"] * given["bytes_per_parameter"]
_cache = given["context"] * given["kv_bytes_per_token"]
_in_time = (given["devices"] * given["memory_bandwidth"] / given["speed"] - _weights) / _cache
_in_memory = (given["devices"] * given["memory_capacity"] - _weights) / _cache
largest_batch = int(min(_in_time, _in_memory))'''],
    "step by step": [
        '''n = given["devices"]
bw = given["memory_bandwidth"] * n
fl = given["peak_flops"] * n
weights_bytes = given["bytes_per_parameter"] * given["total_parameters"]
kv_total = given["kv_bytes_per_token"] * given["context"] * given["batch"]
times = {}
times["weights"] = weights_bytes / bw
times["caches"] = kv_total / bw
times["compute"] = given["batch"] * given["active_parameters"] * 2 / fl''',
        '''def step_time(batch, context):
    t_mem = (weights_bytes + given["kv_bytes_per_token"] * context * batch) / bw
    t_flop = batch * given["active_parameters"] * 2 / fl
    if t_mem > t_flop:
        return t_mem
    else:
        return t_flop''',
        '''def cost_per_million(seconds, batch):
    tokens_per_second = batch / seconds
    dollars_per_second = given["device_price"] * n
    return dollars_per_second / tokens_per_second * 1_000_000''',
        'balance_batch = "F*w*N/(W*2*A)"',
        '''def weight_bytes(batch):
    p_hit = given["active_experts"] / given["experts"]
    p_any = 1 - (1 - p_hit) ** batch
    shared = given["total_parameters"] - given["routed_parameters"]
    return (shared + p_any * given["routed_parameters"]) * given["bytes_per_parameter"]''',
        '''per_seq = given["kv_bytes_per_token"] * given["context"]
room = given["memory_capacity"] * n - weights_bytes
fits = room / per_seq
budget = bw * (1 / given["speed"])
quick = (budget - weights_bytes) / per_seq
largest_batch = int(fits) if fits < quick else int(quick)'''],
    "functions": [
        '''def seconds_to_read(b):
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
)''',
        '''def step_time(batch, context):
    return max(seconds_to_read(model_size + cache_size(batch, context)), seconds_to_compute(batch))''',
        '''def cost_per_million(seconds, batch):
    steps = 1e6 / batch
    return steps * seconds * given["devices"] * given["device_price"]''',
        'balance_batch = "(F/2/A) / (W/(N*w))"',
        '''def weight_bytes(batch):
    missed = 1.0
    for _ in range(int(batch)):
        missed *= 1 - given["active_experts"] / given["experts"]
    read = given["total_parameters"] - missed * given["routed_parameters"]
    return read * given["bytes_per_parameter"]''',
        '''b = 1
while True:
    too_slow = seconds_to_read(model_size + cache_size(b + 1, given["context"])) > 1 / given["speed"]
    too_big = model_size + cache_size(b + 1, given["context"]) > given["devices"] * given["memory_capacity"]
    if too_slow or too_big:
        break
    b += 1
largest_batch = b'''],
    "short": [
        '''g = given
B = g["devices"] * g["memory_bandwidth"]
times = {"weights": g["bytes_per_parameter"] * g["total_parameters"] / B,
         "caches": g["kv_bytes_per_token"] * g["batch"] * g["context"] / B,
         "compute": g["active_parameters"] / g["peak_flops"] * 2 * g["batch"] / g["devices"]}''',
        '''step_time = lambda batch, context: max(
    (g["bytes_per_parameter"] * g["total_parameters"] + g["kv_bytes_per_token"] * batch * context) / B,
    g["active_parameters"] / g["peak_flops"] * 2 * batch / g["devices"])''',
        'cost_per_million = lambda seconds, batch: seconds / batch * g["device_price"] * g["devices"] * 10**6',
        'balance_batch = "N*w/W * F/(2*A)"',
        '''weight_bytes = lambda batch: g["bytes_per_parameter"] * (g["total_parameters"] - g["routed_parameters"] + g["routed_parameters"] * (1 - (1 - g["active_experts"] / g["experts"])**batch))''',
        '''free = [g["devices"] * g["memory_capacity"], B / g["speed"]]
largest_batch = int((min(free) - g["bytes_per_parameter"] * g["total_parameters"]) // (g["kv_bytes_per_token"] * g["context"]))'''],
}


def notebook(cells, markdown=()):
    made = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None} for source in cells]
    made += [{"cell_type": "markdown", "source": source, "metadata": {}} for source in markdown]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


def handed_in(some):
    """Submissions from students and their cells, each within the notebook as it was released."""
    return [Submission(student, f"{student}.ipynb", notebook([SETUP, *cells, EXPLORE])) for student, cells in some.items()]


def found(some, share=similar.SHARE, given=GIVEN):
    return similar.find(handed_in(some), given, share)


def raw_share(one, other):
    """What two solutions share with nothing left out but what was released."""
    first, second = ({int(run) for run in similar.runs(similar.own(data, GIVEN), GIVEN)} for data in (notebook(one), notebook(other)))
    return len(first & second) / min(len(first), len(second))


# What copies are disguised with

def renamed(cells):
    """Every name of the student's own replaced."""
    own = sorted({name for cell in cells for name in re.findall(r"\b_?[a-z]\w*\b", re.sub(r'"[^"]*"|#.*', "", cell))}
                 - {"given", *keyword.kwlist, *dir(builtins), *NAMES, "seconds", "weights", "caches", "compute", "e6"})
    return [re.sub(r'"[^"]*"|#.*|\b_?[a-z]\w*\b', lambda found: f"other_{own.index(found[0])}" if found[0] in own else found[0], cell) for cell in cells]


def commented(cells):
    lines = [[part for line in cell.split("\n") for part in (f"# {random.Random(line).random()}", f"{line}  # {len(line)}")] for cell in cells]
    return ["\n".join(found) for found in lines]


def documented(cells):
    return [re.sub(r"^(def .*:)$", r"\1" + '\n    """My own words about it, which say a lot."""', cell, flags=re.M) for cell in cells]


def reordered(cells):
    return random.Random(3).sample(cells, len(cells))


def in_one_cell(cells):
    return ["\n\n".join(cells)]


def bracketed(cells):
    return [re.sub(r"^(\s*return )(.+)$", r"\1(\n        \2\n    )", cell.replace(" * ", "  *  "), flags=re.M) for cell in cells]


def padded(cells):
    return [*cells, "import math\nfor i in range(10):\n    print(math.sqrt(i), i ** 3, sorted([i, 2]))", "history = []\nhistory.append(step_time(1, 2))"]


def partly(cells):
    return cells[:3] + [SOLUTIONS["short"][3], *cells[4:5]]


def all_at_once(cells):
    return reordered(bracketed(commented(documented(renamed(cells)))))


DISGUISES = [renamed, commented, documented, reordered, in_one_cell, bracketed, padded, partly, all_at_once]


def a_class(many, seed=1):
    """Students who each chose their own way for each question, and the order of factors in it."""
    draw, made = random.Random(seed), {}
    ways = list(SOLUTIONS.values())
    factor = r'given\["\w+"\]'
    for i in range(many):
        cells = []
        for question in range(len(EMPTY)):
            cell = draw.choice(ways)[question]
            cell = re.sub(rf"({factor}) \* ({factor})", lambda found: f"{found[2]} * {found[1]}" if draw.random() < 0.5 else found[0], cell)
            for line in draw.sample(range(9), 2):
                cell += f"\nprint({draw.choice(['round', 'abs', 'str', 'repr'])}({draw.choice(NAMES[:6])}), {draw.randrange(1000)}{draw.choice(['', ' ** 2', ' + 1', ' % 7'])})"
            cells.append(cell)
        made[f"s{i:05}"] = cells
    return made
