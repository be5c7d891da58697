// What a page of the book starts: the scenario bar, live numbers, and its explorers, each when it comes near.
import "./site.css";
import { mountBar } from "./bar.js";
import { mount } from "./explorer.js";
import { mountLive } from "./live.js";
import { store } from "./scenario.js";
import { strangers } from "./state.js";

function memory() {
  try { return window.localStorage; } catch { return null; } // a page may be denied it
}

function upgrade(figure) {
  const block = figure.querySelector("script.explorer-spec");
  if (!block || figure.dataset.mounted) return;
  figure.dataset.mounted = "yes";
  const still = [...figure.children].filter((child) => child !== block), host = document.createElement("div");
  try {
    const spec = JSON.parse(block.textContent);
    figure.append(host);
    mount(host, spec, { search: location.search });
    for (const child of still) child.remove();
  } catch (error) {
    // The still figure stays; the rest of the page goes on.
    host.remove();
    console.warn(`The explorer ${figure.id} could not start: ${error.message}`);
  }
}

// Below the theme's own header where that stays in view; and what is jumped to comes below both.
function pin(bar) {
  const header = document.querySelector(".bd-header-article"), root = document.documentElement;
  const place = () => {
    const above = header && getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0;
    bar.style.setProperty("--bar-top", `${above}px`);
    root.style.scrollPaddingTop = `${above + Math.min(bar.offsetHeight, 90) + 12}px`;
  };
  place();
  const watcher = new ResizeObserver(place);
  watcher.observe(bar);
  if (header) watcher.observe(header);
}

function start() {
  store.load(location.search, memory());
  const figures = [...document.querySelectorAll("figure.explorer")];
  const article = ["article.bd-article", "main article", "main"].map((rule) => document.querySelector(rule)).find(Boolean);
  if (article) pin(mountBar(article, strangers(location.search, figures.map((figure) => figure.id.replace("explorer-", "")))));
  mountLive(document);
  // The first screen first; what lies below is built while the reader reads, and at once when it comes near.
  const later = [];
  for (const figure of figures) {
    if (figure.getBoundingClientRect().top < innerHeight * 1.5 || location.hash === `#${figure.id}`) upgrade(figure);
    else later.push(figure);
  }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); upgrade(entry.target); }
  }, { rootMargin: "600px" });
  for (const figure of later) near.observe(figure);
  const idle = window.requestIdleCallback || ((f) => setTimeout(f, 200));
  const next = () => { const figure = later.shift(); if (figure) { upgrade(figure); idle(next); } };
  idle(next);
  addEventListener("beforeprint", () => { for (const figure of later) upgrade(figure); });
}

start();
