// What a page of the book starts: the scenario bar, live numbers, and its explorers, each when it
// comes near.
import "./site.css";
import "./custom_scenario_form.css";
import "../../handful_explorers/web/schematic.css";
import "../../handful_study/web/cards.css";
import "../../handful_study/web/study.css";
import "../../handful_study/web/problems.css";
import "./accessibility.css";
import { mountQuestions } from "./ask.js";
import { mountBar } from "./scenario_bar.js";
import { mount } from "../../handful_explorers/web/explorer.js";
import { tellGuesses } from "../../handful_explorers/web/guesses.js";
import { mountOffline } from "./offline/offline.js";
import { h, lookWithin } from "../../handful_explorers/web/dom.js";
import { mountLedger } from "./ledger.js";
import { mountLive } from "./live.js";
import { watchWideBoxes } from "./scrollable_boxes.js";
import { mountTabGroups } from "./tab_groups.js";
import { offerPython } from "../python/offer.js";
import "../measure/measure.css";
import "../runs/runs.css";
import {
  label,
  lacks,
  readRent,
  rentProblem,
  rows,
  store,
} from "../../handful_explorers/web/scenario.js";
import "./search/search_dialog.js";
import { strangers } from "../../handful_explorers/web/state.js";
import { mountWhere } from "./conditions.js";
import { check } from "../../handful_explorers/web/custom_scenario.js";

function memory() {
  try {
    return window.localStorage;
  } catch {
    return null;
  } // a page may be denied it
}

/**
 * @param {Element} node
 * @returns {node is HTMLElement}
 */
const isHTML = (node) => node instanceof HTMLElement;

const trouble = (/** @type {string} */ text) =>
  h("p", { class: "page-trouble", role: "status", text });

/** @type {Map<string, ReturnType<typeof mount>>} */
const plots = new Map();

/**
 * @param {HTMLElement} figure
 * @param {boolean} [ask]
 */
function upgrade(figure, ask) {
  const block = figure.querySelector("script.explorer-spec");
  if (!block || figure.dataset.mounted) return;
  figure.dataset.mounted = "yes";
  const still = [...figure.children].filter((child) => child !== block),
    host = document.createElement("div");
  try {
    const spec = JSON.parse(block.textContent ?? "");
    figure.append(host);
    plots.set(figure.id, mount(host, spec, { search: location.search, ask }));
    for (const child of still) child.remove();
  } catch (error) {
    // The still figure stays; the rest of the page goes on.
    host.remove();
    figure.append(trouble("This plot could not start, so its still picture stands here."));
    console.warn(
      `The explorer ${figure.id} could not start: ${/** @type {Error} */ (error).message}`,
    );
  }
}

// Below the theme's own header where that stays in view; and what is jumped to comes below both.
/** @param {HTMLElement} bar */
function pin(bar) {
  /** @type {HTMLElement | null} */
  const header = document.querySelector(".page-tools"),
    root = document.documentElement;
  const place = () => {
    const above =
      header && getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0;
    bar.style.setProperty("--bar-top", `${above}px`);
    root.style.scrollPaddingTop = `${above + Math.min(bar.offsetHeight, 90) + 12}px`;
  };
  // The watcher calls at once, after the layout that comes anyway: asking for a size here would
  // force one more.
  const watcher = new ResizeObserver(place);
  watcher.observe(bar);
  if (header) watcher.observe(header);
  // It stays in view beside what follows it, and not while one reads.  On the page for a reader's
  // own model the text follows it as well.
  if (document.querySelector("#yours")) return;
  const seen = new Set();
  const beside = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) seen.add(target);
      else seen.delete(target);
    bar.classList.toggle("is-resting", !seen.size);
  });
  for (const figure of document.querySelectorAll("figure.explorer")) beside.observe(figure);
}

const article = () =>
  ["article.article", "main article", "main"]
    .map((rule) => document.querySelector(rule))
    .find(Boolean);

/** @type {(part: ParentNode) => void} */
let takeIn = () => {}; // numbers that come into the page after it has been read
let barred = false;
/** @param {string[]} [problems] */
function showBar(problems = []) {
  const text = article();
  if (barred || !text) return;
  barred = true;
  if (!document.body.classList.contains("has-scenario")) {
    if (problems.length) text.before(trouble(problems.join(" ")));
    return;
  }
  pin(mountBar(text, problems));
}

// The last picture of each stands with the sentences of all steps; the script goes through them.
function stepSchematics() {
  /** @type {NodeListOf<HTMLElement>} */
  const figures = document.querySelectorAll("figure.schematic");
  if (figures.length)
    import(new URL(`./schematic.js?v=${SCHEMATIC_MARK}`, import.meta.url).href).then(
      (steps) => figures.forEach(steps.mount),
      (error) => console.warn(`The schematics stand still: ${error.message}`),
    );
}

// A click on the button measures the reader's computer, and brings the script that does.
function offerMeasurement() {
  /** @type {HTMLElement | null} */
  const place = document.querySelector("#measure"),
    button = place?.querySelector("button"),
    said = place?.querySelector("[role=status]");
  if (!place || !button || !said) return;
  place.querySelector(".measure-still")?.remove();
  button.parentElement?.removeAttribute("hidden");
  const begin = () =>
    import(new URL(`./measure.js?v=${MEASURE_MARK}`, import.meta.url).href)
      .then(({ start }) => {
        button.removeEventListener("click", begin);
        start(place, { store, check, plots, mount });
      })
      .catch((error) => {
        console.warn(`Measuring: ${error.message}`);
        said.textContent = "What measures could not be loaded; the command below needs no page.";
      });
  button.addEventListener("click", begin);
}

// The form for a reader's own model and chip is on one page.
function fetchForm() {
  if (document.querySelector("#yours"))
    import(new URL(`./form.js?v=${FORM_MARK}`, import.meta.url).href)
      .then(({ mountYours }) => mountYours({ label, rows, store }))
      .catch((error) => console.warn(`The form could not start: ${error.message}`));
}

// The place for result files is on one page, and its script comes when the place comes near.
function fetchRuns() {
  /** @type {HTMLElement | null} */
  const place = document.querySelector("#runs");
  if (!place) return;
  const near = new IntersectionObserver(
    ([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      near.disconnect();
      import(new URL(`./runs.js?v=${RUNS_MARK}`, import.meta.url).href)
        .then(({ start }) => {
          place.querySelector(".runs-still")?.remove();
          start(place, { store, rows, label, lacks, readRent, rentProblem });
        })
        .catch((error) => console.warn(`Result files cannot be read: ${error.message}`));
    },
    { rootMargin: "600px" },
  );
  near.observe(place);
}

// What needs the whole text: figures, and the numbers within it.
function fill() {
  /** @type {HTMLElement[]} */
  const figures = [...document.querySelectorAll("figure.explorer")].filter(isHTML);
  stepSchematics();
  mountLedger();
  mountQuestions();
  tellGuesses();
  offerPython();
  offerMeasurement();
  fetchForm();
  fetchRuns();
  mountWhere();
  showBar(
    strangers(
      location.search,
      figures.map((figure) => figure.id.replace("explorer-", "")),
    ),
  );
  /** @type {(task: () => void, options?: IdleRequestOptions) => unknown} */
  const idle = window.requestIdleCallback || ((f) => setTimeout(f, 200));
  // The text shows the default scenario's numbers already; any other scenario's come before the
  // first paint.
  if (store.isDefault)
    idle(
      () => {
        takeIn = mountLive(document);
      },
      { timeout: 1500 },
    );
  else takeIn = mountLive(document);
  // What is near the screen is built first; the rest while the reader reads, and at once when it
  // comes near.
  const later = [...figures];
  const next = () => {
    const figure = later.shift();
    if (figure) {
      upgrade(figure);
      idle(next);
    }
  };
  let begun = false;
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && isHTML(target)) {
          near.unobserve(target);
          upgrade(target);
          lookWithin(target);
        }
      if (!begun) idle(next); // its first word is of all of them
      begun = true;
    },
    { rootMargin: "600px" },
  );
  for (const figure of figures) {
    if (location.hash === `#${figure.id}`) upgrade(figure);
    near.observe(figure);
  }
  idle(watchWideBoxes, { timeout: 3000 });
  if (document.querySelector("[data-study]"))
    study(); // what the page is for
  else idle(study, { timeout: 1500 });
  idle(mountOffline, { timeout: 1500 });
  addEventListener("beforeprint", () => {
    for (const figure of later) upgrade(figure, false);
    lookWithin(document);
  });
  document.documentElement.dataset.up = ""; // color_mode_init.js looks for it
}

// Cards and problems read as folded text; their script comes when the page stands.
/** @type {Promise<typeof import("../../handful_study/web/study.js")> | null} */
let fetched = null;
/** @returns {Promise<typeof import("../../handful_study/web/study.js")>} */
function fetchStudy() {
  return (fetched ||= import(new URL(`./study.js?v=${STUDY_MARK}`, import.meta.url).href));
}
function study() {
  if (!document.querySelector("[data-card], [data-problem], [data-study]")) return;
  fetchStudy()
    .then(({ start }) =>
      start({ store, lacks, label, takeIn: (/** @type {ParentNode} */ node) => takeIn(node) }),
    )
    .catch((error) => {
      console.warn(`Cards and problems could not start: ${/** @type {Error} */ (error).message}`);
      const first = document.querySelector(
        "[data-study], .fold, .cards, .problems, [data-card], [data-problem]",
      );
      first?.before(
        trouble(
          "What checks and remembers your answers could not be loaded; questions and answers " +
            "can be read and unfolded. Reload the page to try again.",
        ),
      );
      for (const held of document.querySelectorAll(".card > noscript"))
        held.outerHTML = held.textContent ?? "";
    });
}

store.load(location.search, memory());
mountTabGroups();
// Review and Progress are large and read from the learner's store: ahead.js, in the page's head,
// has begun to open it.
const { studyOpening } = window;
if (studyOpening)
  fetchStudy()
    .then(({ open }) => open(studyOpening))
    .catch(() => {}); // study() says so
if (document.readyState === "loading") {
  addEventListener("DOMContentLoaded", fill);
  // This module does not wait for the text: where no address is to be checked against the page's
  // explorers, the bar stands as soon as there is something to stand above.
  const early = new MutationObserver(() => {
    if (!document.querySelector("article.article > *")) return;
    early.disconnect();
    showBar();
  });
  if (!location.search) early.observe(document, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => early.disconnect());
} else fill();
