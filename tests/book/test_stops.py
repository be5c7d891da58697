"""Tests of the steps of every slider and every cursor of the book, and of the bar's context."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from handful_site import build
from soup import starts_from

pytestmark = pytest.mark.browser

# Walks every slider and cursor of a page from end to end and back; then, from where it stands at
# first, from a value that was typed and from one that was dragged, so many steps to one side and
# as many back.  "Copy link" tells exact values.
WALK = """async (specs) => {
  const faults = [], counts = {};
  let copied = "";
  navigator.clipboard.writeText = async (text) => { copied = text; };
  const drawn = () => new Promise((done) => requestAnimationFrame(() =>
    requestAnimationFrame(done)));
  const press = (node, key) => node.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  for (const spec of specs) {
    const figure = document.getElementById(`explorer-${spec.name}`),
      copy = [...figure.querySelectorAll(".ex-tool")].find(
        (tool) => tool.textContent === "Copy link");
    const sets = spec.controls.filter((c) => "min" in c);
    if (spec.x) sets.push({ ...spec.x, type: "cursor", value: spec.x.at });
    for (const set of sets) {
      const { name, unit, min, max, value, type } = set,
        where = `${spec.name} ${name}`, cursor = type === "cursor",
        node = figure.querySelector(cursor ? "[role=slider]" : `input[id$="-${name}"]`),
        svg = figure.querySelector(".ex-svg");
      const read = () => {
        copy.click();
        return Number(new URL(copied).searchParams.get(`e.${spec.name}.${name}`) ?? value);
      };
      const heard = () => node.dispatchEvent(new Event("input", { bubbles: true }));
      const step = (count) => {
        for (let i = 0; i < Math.abs(count); i += 1) {
          if (cursor) { press(node, count > 0 ? "ArrowRight" : "ArrowLeft"); continue; }
          if (count > 0) node.stepUp(); else node.stepDown();
          heard(); } };
      const walk = (way) => {
        const found = [read()];
        for (;;) {
          step(way);
          const next = read();
          if (next === found.at(-1)) return found;
          found.push(next); } };
      const backAndForth = (origin, ends) => {
        const pairs = [1, 2, 7, 30].flatMap((k) => [[k, -k], [-k, k]]);
        for (const [there, back] of [...pairs, ["PageUp", "PageDown"], ["PageDown", "PageUp"]]) {
          const go = (by) => typeof by === "number" ? step(by) : press(node, by), before = read();
          go(there);
          const away = read();
          if (away === before && !ends.includes(before))
            faults.push(`${where}: ${there} does nothing at ${before} (${origin})`);
          if (!ends.includes(away)) go(back);
          else // the way there was cut short
            for (let i = 0; i < 2000 && read() !== before; i += 1) step(before > away ? 1 : -1);
          if (read() !== before) faults.push(
            `${where}: ${before}, by ${there} ${away}, and back ${read()} (${origin})`); } };
      const typed = async (wanted) => {
        if (cursor) press(node, "1");
        else node.parentElement.querySelector("output").click();
        const field = figure.querySelector(".ex-typed");
        field.value = unit === "%" ? `${100 * wanted}%` : `${wanted} ${unit === "1" ? "" : unit}`;
        press(field, "Enter");
        await drawn();
        return read(); };

      const first = read();
      if (cursor) press(node, "Home"); else { node.value = node.min; heard(); }
      await drawn();
      const up = walk(1), down = walk(-1), ends = [up[0], up.at(-1)];
      counts[where] = up.length;
      if (up.some((one, i) => i && !(one > up[i - 1]))) faults.push(`${where}: does not rise`);
      if (String(up) !== String(down.reverse()))
        faults.push(`${where}: ${up.length} stops upwards, ${down.length} downwards`);
      for (const [i, wanted] of [min, max].entries())
        if (Math.abs(ends[i] - wanted) >= (min >= 1 ? 1 : 1e-9))
          faults.push(`${where}: ends at ${ends[i]}, not ${wanted}`);
      [...figure.querySelectorAll(".ex-tool")].find(
        (tool) => tool.textContent === "Reset").click();
      await drawn();
      if (first !== value || read() !== value) faults.push(`${where}: ${first}, not ${value}`);
      backAndForth("at first", ends);
      const log = set.log || type === "log",
        odd = log ? min * (max / min) ** 0.4137 : min + 0.4137 * (max - min),
        wanted = type === "int" || set.whole ? Math.round(odd) : Number(odd.toPrecision(6)),
        found = await typed(wanted);
      if (Math.abs(found - wanted) > 1e-9 * wanted)
        faults.push(`${where}: ${found} when ${wanted} was typed`);
      backAndForth("typed", ends);
      if (!cursor) continue;
      svg.setPointerCapture = () => {};
      const box = svg.getBoundingClientRect();
      for (const [kind, at] of [["down", 0.4], ["move", 0.55], ["up", 0.55]])
        svg.dispatchEvent(new PointerEvent(`pointer${kind}`, { pointerId: 1, button: 0,
          clientX: box.left + at * box.width, clientY: box.top + 90, bubbles: true }));
      await drawn();
      backAndForth("dragged", ends);
    }
  }
  return { faults, counts };
}"""


def specs(page_name: str) -> list[dict]:
    text = (build.SITE / page_name).read_text("utf-8")
    found = re.findall(r'<script[^>]*class="explorer-spec"[^>]*>(.*?)</script>', text, re.S)
    specs = [json.loads(html.unescape(one)) for one in found]
    own: dict[str, Any] = {**starts_from(page_name)}
    for part in [part for spec in specs for part in [*spec["controls"], spec.get("x") or {}]]:
        if part.get("follows") and part["name"] in own:
            part["value" if "value" in part else "at"] = own[part["name"]]
    return specs


def test_as_many_steps_back_as_forth_end_where_they_began(page_name, site, shared):
    declared = specs(page_name)
    if not declared:
        return
    tab = shared(reduced_motion="reduce")
    page = tab.open(site + page_name)
    for figure in page.locator("figure.explorer").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".ex").wait_for()
    walked = page.evaluate(WALK, declared)
    assert walked["faults"] == []
    few = {name: count for name, count in walked["counts"].items() if count < 13}
    small = {
        f"{spec['name']} {c['name']}"
        for spec in declared
        for c in spec["controls"]
        if c.get("step") and (c["max"] - c["min"]) / c["step"] < 13
    }
    assert set(few) <= small
    assert tab.faults == []


def test_keys_on_the_bars_context(site, shared):
    """Real keys, from the book's own value, one from the address, and one that was typed."""
    for query in ("", "?context=7777"):
        page = shared(reduced_motion="reduce").open(f"{site}latency-and-cost.html{query}")
        slider, told = page.locator("#bar-context"), page.locator(".bar-context output")
        for typed in ("", "9,876"):
            if typed:
                slider.focus()
                page.keyboard.type(typed)
                page.keyboard.press("Enter")
                expect(told).to_contain_text(typed)
            first, seen = told.inner_text(), []
            slider.focus()
            for key in [*["ArrowRight"] * 3, *["ArrowLeft"] * 5, *["ArrowRight"] * 2]:
                page.keyboard.press(key)
                expect(told).not_to_have_text(seen[-1] if seen else first)
                seen.append(told.inner_text())
            assert seen[5] == seen[-1] == first
            for there, back in (("PageUp", "PageDown"), ("PageDown", "PageUp")):
                page.keyboard.press(there)
                expect(told).not_to_have_text(first)
                page.keyboard.press(back)
                expect(told).to_have_text(first)
        for key, end in (("Home", "128\u00a0tokens"), ("End", "1\u00a0million\u00a0tokens")):
            page.keyboard.press(key)
            expect(told).to_have_text(end)


@pytest.mark.parametrize(
    "chapter, slider, stops",
    [
        ("theory-and-measurement", "what-a-server-adds-context", ["1,536", "1,540", "1,560"]),
    ],
)
def test_a_reader_steps_through_round_values(chapter, slider, stops, site, shared):
    page = shared(reduced_motion="reduce").open(f"{site}{chapter}.html")
    name, control = slider.rsplit("-", 1)
    figure = page.locator(f"#explorer-{name}")
    figure.scroll_into_view_if_needed()
    node = figure.locator(f"input[id$='-{control}']")
    told = node.locator("xpath=../output")
    node.focus()
    for key, way in (("ArrowRight", stops[1:]), ("ArrowLeft", stops[-2::-1])):
        for stop in way:
            page.keyboard.press(key)
            expect(told).to_have_text(re.compile(rf"^{re.escape(stop)}(\u00a0|$)"))
