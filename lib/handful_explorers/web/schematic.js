// Steps of a schematic.  Python has drawn them all into one picture (schematics/svg.py): each
// element says in `data-steps` what it is in which step.  Here a step is chosen, by buttons or by
// arrow keys; never by scrolling, which would show what the text asks the reader to predict.
import { announce, h } from "./dom.js";

/** @param {HTMLElement} figure */
export function mount(figure) {
  const picture = figure.querySelector(".schematic-picture"),
    items = [...figure.querySelectorAll(".schematic-steps > li")];
  if (!picture || figure.dataset.mounted) return;
  figure.dataset.mounted = "yes";
  const parts = [...picture.querySelectorAll("[data-steps]")].flatMap((node) => {
    node.removeAttribute("visibility"); // which the class below takes over
    return node instanceof SVGElement ? [{ node, states: node.dataset.steps?.split("|") }] : [];
  });
  const last = items.length - 1;
  let at = 0,
    furthest = 0; // sentences beyond it would answer what the text asks the reader to predict

  /** @param {number} step */
  function draw(step) {
    for (const { node, states } of parts) {
      const state = states?.[step] ?? "";
      node.classList.toggle("is-away", state.startsWith("-"));
      node.style.cssText = state.replace(/^-/, "");
    }
  }

  /** @param {number} step */
  function show(step) {
    at = step;
    draw(at);
    picture?.setAttribute("aria-label", items[at].getAttribute("data-words") ?? "");
    for (const list of [items, dots])
      for (const [i, node] of list.entries())
        if (i === at) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
    furthest = Math.max(furthest, at);
    for (const [i, item] of items.entries()) item.classList.toggle("is-unread", i > furthest);
    back.setAttribute("aria-disabled", String(at === 0));
    next.textContent = at === last ? "Again" : "Next";
  }

  /** @param {number} step */
  function go(step) {
    if (step < 0) return;
    show(step > last ? 0 : step);
    const words = picture?.getAttribute("aria-label");
    announce(`Step ${at + 1} of ${last + 1}. ${items[at].textContent} In the picture: ${words}`);
  }

  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: "schematic-button", text, onclick });
  const back = button("Back", () => go(at - 1)),
    next = button("Next", () => go(at + 1));
  const labels = items.map((item) => item.getAttribute("data-label")),
    isLabelled = labels.every(Boolean);
  // Dots are for a mouse or a finger; keys reach every step from the buttons.
  const dots = labels.map((text, i) =>
    h("button", {
      type: "button",
      onclick: () => go(i),
      ...(isLabelled
        ? { class: "schematic-choice", text }
        : { class: "schematic-dot", tabindex: -1, "aria-label": `Step ${i + 1} of ${last + 1}` }),
    }),
  );
  const controls = h(
    "div",
    {
      class: "schematic-controls",
      role: "group",
      "aria-label": "Steps of this picture",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const steps = { ArrowLeft: at - 1, ArrowRight: Math.min(at + 1, last), Home: 0, End: last };
        if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in steps)) return;
        event.preventDefault();
        go(steps[/** @type {keyof typeof steps} */ (event.key)]);
      },
    },
    ...(isLabelled ? dots : [back, h("span", { class: "schematic-dots" }, ...dots), next]),
  );
  picture.after(controls);
  for (const [i, item] of items.entries())
    item.addEventListener("click", () => String(getSelection()) || go(i));

  show(0);
  figure.classList.add("is-stepped");
  const move = () => figure.classList.add("is-moving");
  requestAnimationFrame(move); // and not from the last picture to the first
  addEventListener("beforeprint", () => {
    figure.classList.remove("is-moving");
    draw(last);
  });
  addEventListener("afterprint", () => {
    draw(at);
    move();
  });
}
