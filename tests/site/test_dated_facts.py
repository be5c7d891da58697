"""Refreshing a row of the facts changes what depends on it, on every page, and nothing else."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# In a process of its own, since facts are read once: page → texts of its live numbers and facts,
# and its plots.
SHOWN = """
import hashlib, importlib, json, re, sys
from pathlib import Path
from handful_site.extensions import roles
from handful_explorers.plotting.explorer import Explorer
pages = {}
for path in sorted(Path(sys.argv[1]).glob("*.md")):
    text, shown = path.read_text("utf-8"), {}
    for role, _, inside in re.findall(r"\\{(live|fact)\\}(`+)(.+?)\\2", text, flags=re.S):
        shown[f"{role} {inside}"] = getattr(roles, role)(" ".join(inside.split()))["text"]
    imports = re.findall(r"^from handful_explorers\\.(\\w+) import (.+)$", text, flags=re.M)
    for module, names in imports:
        for name in re.split(r",\\s*", names):
            thing = getattr(importlib.import_module(f"handful_explorers.{module}"), name.strip())
            if isinstance(thing, Explorer):
                spec = json.dumps(thing.spec(), sort_keys=True).encode()
                shown[f"plot {name}"] = hashlib.sha256(spec).hexdigest()
    pages[path.stem] = shown
print(json.dumps(pages))
"""


def shown(library: Path) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHOWN, str(ROOT / "book")],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(library), str(ROOT / "lib")]),
            "PYTHONHASHSEED": "0",
        },
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def today():
    return shown(ROOT / "lib")


@pytest.mark.parametrize(
    "changes, pages, kept",
    [
        (
            [("accelerators", "GB200 NVL72", "hbm_bandwidth_bytes_per_s", 1.5)],
            {"latency-and-cost", "balance-batch", "index"},
            "fact prices / claude-opus-4-8 / output_usd_per_mtok",
        ),
        (
            [
                ("accelerators", "GB200 NVL72", "rental_usd_per_chip_hour_3yr", 2),
                ("prices", "claude-opus-5", "output_usd_per_mtok", 0.5),
            ],
            {"latency-and-cost", "index"},
            'live sparsity model="DeepSeek-V3" digits=2',
        ),
    ],
)
def test_pages_follow_a_row(tmp_path, today, changes, pages, kept):
    library = tmp_path / "lib"
    shutil.copytree(ROOT / "lib" / "handful", library / "handful")
    for table, row, column, factor in changes:
        path = library / "handful" / "facts" / f"{table}.csv"
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        place, changed = head.index(column), 0
        for cells in rows:
            if row in cells[:3]:
                cells[place], changed = str(float(cells[place]) * factor), changed + 1
        assert changed == 1
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *rows])
    later = shown(library)
    moved = {page for page in today if later[page] != today[page]}
    assert pages <= moved
    assert any(
        text != today[page][key]
        for page in pages
        for key, text in later[page].items()
        if not key.startswith("plot")
    )
    keeping = [page for page in today if kept in today[page]]
    assert keeping and all(later[page][kept] == today[page][kept] for page in keeping)
