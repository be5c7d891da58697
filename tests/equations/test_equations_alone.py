"""The equations with NumPy, SciPy and SymPy, and nothing else that is installed here."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "lib"
NEEDED = ("numpy", "scipy", "sympy", "mpmath")  # SymPy itself needs mpmath

EVERYTHING = """
import importlib, pkgutil, sys
import handful
names = [found.name for found in pkgutil.walk_packages(handful.__path__, "handful.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
from handful import latency, scenario, tiers
known = scenario.values(hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8", context=8192)
assert 0 < latency.step_time(known, batch=64) < 1
assert len(tiers.break_even_time.derivation.steps) >= 2
print(len(names), *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def alone(tmp_path):
    """Return a folder that holds the equations and what they need."""
    (tmp_path / "handful").symlink_to(LIBRARY / "handful")
    for name in NEEDED:
        found = importlib.util.find_spec(name)
        place = Path(found.origin).parent
        (tmp_path / name).symlink_to(place)
        libraries = place.with_name(f"{name}.libs")  # compiled parts of a wheel
        if libraries.is_dir():
            (tmp_path / libraries.name).symlink_to(libraries)
    return tmp_path


def test_every_module_runs_and_a_formula_answers(alone):
    code = f"import sys; sys.path.insert(0, {str(alone)!r})\n{EVERYTHING}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", code],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    count, *loaded = done.stdout.split()
    assert int(count) > 35
    ours = {name for name in loaded if name.startswith("handful")}
    assert ours == {"handful"}
    assert not {"ipywidgets", "matplotlib", "simpy", "sphinx", "yaml", "networkx"} & set(loaded)
