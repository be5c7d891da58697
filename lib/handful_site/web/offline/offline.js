// The page's side of the book with no network: when its worker (sw.js) is asked to start, the line
// that offers a new edition, and the place where a reader keeps the whole book or removes it.
//
// What is polite: a published book keeps what its reader has opened, and the files that all pages
// share, once a page has been read for a while; that is little more than was fetched for reading
// anyway.  The whole of it is fetched when somebody asks: by the button, or by installing the book.
// With Save-Data or a slow line nothing happens unasked, and neither does it on a reader's own
// machine (make serve), where there is no network to do without and a rebuilt book should show at
// once.
import "./lines.css";
import { h, put } from "../../../handful_explorers/web/dom.js";

const ROOT = new URL("../../", import.meta.url),
  STORAGE_KEY = "handful-offline",
  WHOLE = "whole",
  NOTHING = "no";
const IDLE_MS = 15_000,
  BATCH_SIZE = 6,
  HOUR_MS = 3_600_000;

// What the reader has chosen, remembered for later visits where the browser allows it.
/**
 * @param {string} [value]
 * @returns {string | null}
 */
function choice(value) {
  try {
    if (!value) return localStorage.getItem(STORAGE_KEY);
    localStorage.setItem(STORAGE_KEY, value);
  } catch {
    /* denied: asked again at the next visit */
  }
  return value ?? null;
}

const isSupported = () =>
  "serviceWorker" in navigator &&
  window.isSecureContext &&
  document.querySelector('link[rel="manifest"]');
const savesData = () =>
  navigator.connection?.saveData || /2g/.test(navigator.connection?.effectiveType || "");
const isLocalhost = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

async function findRegistration() {
  const found = await navigator.serviceWorker.getRegistration(ROOT.href);
  // another site's worker may stand above this folder
  return found?.scope === ROOT.href ? found : null;
}

/**
 * @param {ServiceWorker} worker
 * @param {object} message
 * @param {number} [timeout]
 * @returns {Promise<any>} what the worker says: sw.js, WORK
 */
function send(worker, message, timeout = 120_000) {
  return new Promise((done, fail) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => done(data);
    setTimeout(() => fail(new Error("no answer")), timeout);
    worker.postMessage(message, [port2]);
  });
}

// Registered and in use; fails where the browser refuses, the host has no such file, or there is no
// room.
async function register() {
  const registration = await navigator.serviceWorker.register(new URL("sw.js", ROOT));
  observe(registration);
  const worker = registration.active || registration.waiting || registration.installing;
  if (!worker) throw new Error("There is no worker");
  if (worker.state !== "activated") {
    await new Promise((/** @type {(value?: unknown) => void} */ done, fail) => {
      worker.addEventListener("statechange", () => {
        if (worker.state === "activated") done();
        else if (worker.state === "redundant") fail(new Error("The worker could not be filled"));
      });
    });
  }
  return registration;
}

// --- a new edition -------------------------------------------------------------------------------

/** @type {ServiceWorkerRegistration | null} */
let observed = null;
let requested = false;
/** @type {HTMLElement | null} */
let notice = null;
/** @param {ServiceWorkerRegistration} registration */
function observe(registration) {
  if (observed === registration) return;
  observed = registration;
  const offer = () => {
    if (registration.waiting && navigator.serviceWorker.controller) showNotice(registration);
  };
  registration.addEventListener("updatefound", () =>
    registration.installing?.addEventListener("statechange", offer),
  );
  offer();
  let checked = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || Date.now() - checked < HOUR_MS) return;
    checked = Date.now();
    registration.update().catch(() => {}); // no network: at the next visit
  });
  // This tab has asked for the new edition, or another has: then this one goes on with its own
  // until it is reloaded.
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (requested) location.reload();
    else showNotice(registration);
  });
}

/** @param {ServiceWorkerRegistration} registration */
function showNotice(registration) {
  if (notice?.isConnected) return;
  const reload = h("button", {
    type: "button",
    class: "is-main",
    text: "Reload",
    onclick: () => {
      if (!registration.waiting) return location.reload();
      requested = true;
      registration.waiting.postMessage({ ask: "take" });
    },
  });
  const later = h("button", {
    type: "button",
    class: "is-later",
    "aria-label": "Later",
    text: "×",
    onclick: () => notice?.remove(),
  });
  const text = h("p", { role: "status" });
  notice = h("div", { class: "edition-line" }, text, reload, later);
  document.body.append(notice);
  setTimeout(() => {
    text.textContent = "A new edition is here.";
  }); // what comes into a status is read out
}

// --- keeping the whole book ----------------------------------------------------------------------

/**
 * @typedef {object} Status how much is kept
 * @property {Step | "unknown"} step
 * @property {number} kept
 * @property {number} all
 * @property {keyof typeof ERRORS | ""} trouble
 * @property {string} [edition]
 * @typedef {"none" | "starting" | "fetching" | "some" | "whole"} Step
 */

/** @type {Set<(status: Status) => void>} */
const listeners = new Set();
/** @type {Status} */
const status = { step: "unknown", kept: 0, all: 0, trouble: "" };
/** @param {Partial<Status>} change */
function update(change) {
  Object.assign(status, change);
  for (const listener of listeners) listener(status);
}

/** @param {ServiceWorkerRegistration} registration */
function activeOf({ active }) {
  if (!active) throw new Error("no worker");
  return active;
}

/**
 * @param {ServiceWorkerRegistration} registration
 * @returns {Promise<string[]>}
 */
async function refresh(registration) {
  const { kept, all, edition } = await send(activeOf(registration), { ask: "state" });
  update({
    step: kept.length === all.length ? "whole" : "some",
    kept: kept.length,
    all: all.length,
    edition,
  });
  return all.filter((/** @type {string} */ name) => !kept.includes(name));
}

let downloading = false;
/** @param {ServiceWorkerRegistration} registration */
async function downloadAll(registration) {
  if (downloading) return;
  downloading = true;
  try {
    const missing = await refresh(registration);
    while (missing.length && choice() !== NOTHING) {
      update({ step: "fetching", trouble: "" });
      const names = missing.splice(0, BATCH_SIZE),
        { trouble } = await send(activeOf(registration), { ask: "keep", names });
      if (trouble) {
        await refresh(registration);
        update({ trouble });
        if (trouble === "edition") registration.update().catch(() => {});
        return;
      }
      update({ kept: status.kept + names.length });
    }
    if (choice() !== NOTHING) await refresh(registration);
  } catch {
    update({ step: "some", trouble: "network" });
  } finally {
    downloading = false;
  }
}

async function keepBook() {
  choice(WHOLE);
  update({ step: "starting", trouble: "" });
  try {
    // so that the browser does not clear it by itself
    navigator.storage?.persist?.().catch(() => {});
    await downloadAll(await register());
  } catch {
    const there = await fetch(new URL("sw.js", ROOT), { cache: "no-store" }).then(
      ({ ok }) => ok,
      () => false,
    );
    update({ step: "none", trouble: there ? "refused" : "network" });
  }
}

async function removeBook() {
  choice(NOTHING);
  // what is being fetched ends first
  while (downloading) await new Promise((done) => setTimeout(done, 50));
  await (await findRegistration())?.unregister();
  for (const name of await caches.keys())
    if (name.startsWith(`handful ${ROOT.pathname} `)) await caches.delete(name);
  update({ step: "none", kept: 0, trouble: "" });
}

const ERRORS = {
  full:
    "This browser has no room for more; what is kept stays, and everything else comes over the " +
    "network as before.",
  edition:
    "A new edition was published meanwhile; reload when it is offered, and the rest follows.",
  network:
    "The network went away; the rest follows when it is back and a page of the book is open.",
  refused:
    "This browser refuses to keep the book, for want of room or by its settings; the book " +
    "reads over the network as before.",
};

/** @param {HTMLElement} host */
function mountControl(host) {
  const text = h("p", { role: "status" }),
    bar = h("progress", { max: 1, value: 0, "aria-label": "Pages kept" });
  const count = h("p"); // moves on with each page, and so is not read out
  const keep = h("button", {
    type: "button",
    class: "is-main",
    text: "Keep this book offline",
    onclick: keepBook,
  });
  const drop = h("button", { type: "button", text: "Remove", onclick: removeBook });
  const size = host.dataset.offline; // "2.1 MB", from the build
  /** @param {Status} status */
  const draw = ({ step, kept, all, trouble, edition }) => {
    /** @type {Record<string, string>} */
    const words = {
      none: `Nothing is kept on this device${size ? `; the whole book is ${size} to fetch` : ""}.`,
      starting: "Fetching what all pages share …",
      fetching: "Fetching the whole book …",
      some:
        `${kept} of ${all} pages are kept on this device, those that you have ` +
        `opened${size ? `; the whole book is ${size} to fetch` : ""}.`,
      whole:
        `The whole book is kept on this device and reads with no network: ${all} pages, ` +
        `edition ${edition}.`,
    };
    put(text, "text", [words[step] || "", trouble && ERRORS[trouble]].join(" ").trim());
    bar.hidden = !["starting", "fetching"].includes(step);
    count.hidden = step !== "fetching";
    put(count, "text", `${kept} of ${all} pages are here.`);
    bar.value = all ? kept / all : 0;
    keep.hidden = !["none", "some"].includes(step);
    drop.hidden = !["some", "whole", "fetching"].includes(step);
  };
  host.classList.add("kept");
  host.replaceChildren(text, count, bar, h("div", { class: "kept-tools" }, keep, drop));
  listeners.add(draw);
  draw(status);
}

// --- what every page does ------------------------------------------------------------------------

/** @param {ServiceWorkerRegistration} registration */
async function resume(registration) {
  observe(registration);
  if (choice() === WHOLE) return downloadAll(registration);
  // The page that was open before there was a worker is kept as well; later ones pass through it.
  if (!navigator.serviceWorker.controller && registration.active) {
    const { all } = await send(registration.active, { ask: "state" }),
      here = location.pathname.slice(ROOT.pathname.length);
    const name = [here, `${here}.html`, `${here}index.html`].find((one) => all.includes(one));
    if (name) await send(registration.active, { ask: "keep", names: [name] });
  }
  if (listeners.size) await refresh(registration);
}

export async function mountOffline() {
  /** @type {NodeListOf<HTMLElement>} */
  const hosts = document.querySelectorAll("[data-offline]");
  if (!isSupported()) {
    for (const host of hosts)
      host.append(
        h("p", {
          text:
            "This browser keeps no pages from this address, so the book needs the network " +
            "here; that takes https.",
        }),
      );
    return;
  }
  for (const host of hosts) mountControl(host);
  addEventListener("appinstalled", keepBook);
  addEventListener("online", async () => {
    if (status.trouble === "network") keepBook();
  });
  try {
    const found = await findRegistration();
    if (found) {
      if (matchMedia("(display-mode: standalone)").matches && choice() === null && !savesData())
        choice(WHOLE);
      return await resume(found);
    }
    update({ step: "none" });
    if (choice() === NOTHING || savesData() || isLocalhost()) return;
    await new Promise((done) => setTimeout(done, IDLE_MS));
    // A page may never be idle, and is kept all the same.
    await new Promise((done) => {
      if ("requestIdleCallback" in window) requestIdleCallback(done, { timeout: 3000 });
      else setTimeout(done, 200);
    });
    await resume(await register());
  } catch {
    /* refused, or no room: the book reads over the network as before */
  }
}
