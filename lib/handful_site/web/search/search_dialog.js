// What every page has of the search: the keys and buttons that open it.  The rest (search.js and
// the index) comes when a reader reaches for it: with the pointer on the button, with the focus in
// it, or with Ctrl+K or "/".
import "./search.css";
import { h } from "../../../handful_explorers/web/dom.js";

const BUTTON = ".search-button",
  MAC = /^(Mac|iPhone|iPad)/.test(navigator.platform);
// in sessionStorage: where a followed result leads, and the words to mark there
export const ARRIVAL = "handful-search-arrival";

/** @type {Promise<typeof import("./search.js")> | null} */
let fetched = null;
/** @type {HTMLDialogElement | null} */
let dialog = null;
/** @returns {Promise<typeof import("./search.js")>} */
const fetchSearch = () =>
  (fetched ||= import(new URL(`./search.js?v=${SEARCH_MARK}`, import.meta.url).href).catch(
    (error) => {
      fetched = null;
      throw error;
    },
  ));
const preload = () =>
  fetchSearch()
    .then((search) => search.loadIndex(indexAddress()))
    .catch(() => {}); // whoever opens it is told
const indexAddress = () => new URL(document.body.dataset.search ?? "", document.baseURI);
const home = () => new URL("../../", indexAddress());

/**
 * @param {HTMLElement} element
 * @returns {Element}
 */
const bodyOf = (element) => element.querySelector(".find-body") ?? element;

// The field stands at once and keeps what is typed while the rest is on its way.
function createDialog() {
  const input = h("input", {
    type: "text",
    name: "q",
    class: "find-input",
    role: "combobox",
    "aria-label": "Search this book",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    placeholder: "Words, letters or a question",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "go",
  });
  /** @type {HTMLDialogElement} */
  const element = h(
    "dialog",
    { class: "find", "aria-label": "Search this book" },
    h(
      "form",
      { class: "find-form", role: "search", action: new URL("search.html", home()), method: "get" },
      input,
      h(
        "button",
        {
          type: "button",
          class: "find-close",
          "aria-label": "Esc: close the search",
          onclick: () => element.close(),
        },
        h("kbd", { "aria-hidden": "true", text: "Esc" }),
        h("span", { "aria-hidden": "true", text: "✕" }),
      ),
    ),
    h("div", { class: "find-body" }),
  );
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  }); // beside it
  document.body.append(element);
  fetchSearch()
    .then((search) => search.attach(element, indexAddress()))
    .catch(() => {
      const text =
        "The search could not be fetched. The glossary, the notation and the index of " +
        "numbers in the menu list what there is.";
      bodyOf(element).replaceChildren(h("p", { class: "find-says", role: "status", text }));
      element.addEventListener(
        "close",
        () => {
          element.remove();
          dialog = null;
        },
        { once: true },
      ); // the next try starts anew
    });
  return element;
}

function openSearch() {
  /** @type {HTMLInputElement | null} */
  const field = document.querySelector("[data-search-page] input[name=q]");
  if (field) {
    field.focus();
    field.select();
    return;
  }
  dialog ||= createDialog();
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("input")?.select();
}

const isWithin = (/** @type {Event} */ { target }, /** @type {string} */ rule) =>
  target instanceof Element && Boolean(target.closest(rule));
const isTextField = (/** @type {Event} */ event) =>
  isWithin(
    event,
    "input, textarea, select, [contenteditable]:not([contenteditable=false]), .cm-editor",
  );

function start() {
  if (!document.body?.dataset.search) return;
  for (const kind of ["pointerover", "focusin"])
    document.addEventListener(
      kind,
      (event) => {
        if (isWithin(event, BUTTON)) preload();
      },
      { passive: true },
    );
  document.addEventListener("click", (event) => {
    if (isWithin(event, BUTTON)) openSearch();
  });
  addEventListener(
    "keydown",
    (event) => {
      const command =
        /^k$/i.test(event.key) &&
        !event.shiftKey &&
        !event.altKey &&
        (MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey);
      const slash =
        event.key === "/" &&
        !event.ctrlKey &&
        !event.metaKey &&
        !event.altKey &&
        !isTextField(event);
      if (!command && !slash) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (command && dialog?.open) dialog.close();
      else openSearch();
    },
    true,
  );
  const results = document.querySelector("[data-search-page]");
  if (results)
    fetchSearch()
      .then((search) => search.mountPage(results, indexAddress()))
      .catch(() => {
        results.replaceChildren(
          h("p", {
            role: "status",
            text: "The search could not be fetched; reload the page to try again.",
          }),
        );
      });
  let arrival = null;
  try {
    arrival = JSON.parse(sessionStorage.getItem(ARRIVAL) ?? "null");
    sessionStorage.removeItem(ARRIVAL);
  } catch {
    /* a page may be denied it */
  }
  if (arrival?.to === location.href)
    fetchSearch()
      .then((search) => search.showTarget(arrival.terms))
      .catch(() => {});
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
