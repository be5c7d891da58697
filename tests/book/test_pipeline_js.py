"""Tests of the charts' schedules against those of Python.

Every bar of every schedule is the same, to the last bit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import handful_explorers
from handful_evidence.simulate import pipeline as sim

pytestmark = pytest.mark.browser

SIZES = [(2, 1), (2, 5), (3, 7), (4, 8), (6, 12), (8, 24), (5, 20)]
TIMES = [(1.0, 2.0, 1.0), (1.0, 1.7, 0.6), (0.3, 0.7, 0.1), (1.0, 2.9, 1.1)]

PLAY = """async ([plan, forward, backward, weights]) => {
  const { play } = await import("./pipeline.js");
  return play(plan, forward, backward, weights);
}"""
CIRCLE = """async (sizes) => {
  const { circle, decode } = await import("./pipeline.js");
  return [circle(...sizes, 20), decode(...sizes, 200)];
}"""


@pytest.fixture(scope="module")
def page(module_server, shared):
    folder, address = module_server
    library = Path(handful_explorers.__file__).parents[1]
    for file in (
        library / "handful_explorers/web/scenes/pipeline.js",
        library / "handful_site/favicon.svg",
    ):
        shutil.copy(file, folder / file.name)
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><title>pipeline</title>'
        '<link rel="icon" href="favicon.svg"></html>',
        "utf-8",
    )
    tab = shared()
    tab.page.goto(address)
    yield tab.page
    assert tab.faults == []


@pytest.mark.parametrize("name", [name for name in sim.SCHEDULES if name != "dual_pipe"])
def test_every_bar_is_the_same(page, name):
    for stages, many in SIZES:
        if name == "interleaved":
            many += -many % stages  # it wants a multiple
        made = sim.SCHEDULES[name](stages, many)
        plan = {
            "devices": made.devices,
            "stages": made.stages,
            "orders": [
                [[list(piece) for piece in step] for step in order] for order in made.orders
            ],
            "chunks": made.chunks,
        }
        for forward, backward, weights in TIMES:
            played = sim.run(made, forward, backward, weights)
            found = page.evaluate(PLAY, [plan, forward, backward, weights])
            bars = [
                [bar.device, bar.start, bar.end, [list(piece) for piece in bar.pieces]]
                for bar in played.bars
            ]
            assert found["bars"] == bars  # exactly: both add in the same order
            assert (found["makespan"], found["held"]) == (played.makespan, played.held)
            assert found["idle"] == pytest.approx(played.idle, abs=1e-12)


@pytest.mark.parametrize(
    "stages, many, hop", [(4, 1, 0.0), (4, 4, 0.25), (3, 7, 0.1), (8, 12, 0.0)]
)
def test_every_lap_is_the_same(page, stages, many, hop):
    laps, played = page.evaluate(CIRCLE, [stages, many, 1.0, hop])
    assert [tuple(lap) for lap in laps] == list(sim.circle(stages, many, 1.0, hop, 20))
    wanted = sim.decode(stages, many, 1.0, hop)
    assert (played["utilisation"], played["latency"]) == (
        wanted["utilisation"],
        wanted["token_latency"],
    )
