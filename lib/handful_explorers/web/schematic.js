// Steps of a schematic.  Python has drawn them all into one picture (schematics/svg.py): each
// element says in `data-steps` what it is in which step.  Here a step is chosen, by buttons, by
// arrow keys, or on a wide screen by reading on.
import { announce, calm, h } from "./dom.js";

const WAY = 110; // pixels that are scrolled for a step: more than a wheel goes at once

/** @param {HTMLElement} figure */
export function mount(figure) {
  const picture = figure.querySelector(".schematic-picture"),
    stage = picture?.parentElement,
    body = stage?.parentElement,
    items = [...figure.querySelectorAll(".schematic-steps > li")];
  if (!picture || !stage || !body || figure.dataset.mounted) return;
  figure.dataset.mounted = "yes";
  const parts = [...picture.querySelectorAll("[data-steps]")].flatMap((node) => {
    node.removeAttribute("visibility"); // which the class below takes over
    return node instanceof SVGElement ? [{ node, states: node.dataset.steps?.split("|") }] : [];
  });
  const last = items.length - 1;
  let at = 0,
    chosen = false; // by hand, so that scrolling no longer chooses

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
    back.setAttribute("aria-disabled", String(at === 0));
    next.textContent = at === last ? "Again" : "Next";
  }

  /** @param {number} step */
  function go(step) {
    chosen = true;
    if (step < 0) return;
    show(step > last ? 0 : step);
    const words = picture?.getAttribute("aria-label");
    announce(`Step ${at + 1} of ${last + 1}. ${items[at].textContent} In the picture: ${words}`);
  }

  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: "schematic-button", text, onclick });
  const back = button("Back", () => go(at - 1)),
    next = button("Next", () => go(at + 1));
  // For a mouse or a finger; keys reach every step from the buttons.
  const dots = items.map((_, i) =>
    h("button", {
      type: "button",
      class: "schematic-dot",
      tabindex: -1,
      "aria-label": `Step ${i + 1} of ${last + 1}`,
      onclick: () => go(i),
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
    back,
    h("span", { class: "schematic-dots" }, ...dots),
    next,
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

  if (calm()) return;
  // On a narrow screen they lie on each other, and none is passed before the next.
  const listed = () =>
    items[0].getBoundingClientRect().top < items[last].getBoundingClientRect().top;
  // The steps share the way on which the picture is seen whole, or half of it where that is short.
  let entered = Infinity; // where the picture stood when it came into view
  const read = () => {
    if (chosen || !listed()) return;
    const { top, bottom, height } = body.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return; // jumped away, and not read
    const rest = parseFloat(getComputedStyle(stage).top) - (height - stage.offsetHeight),
      half = stage.offsetHeight / 2,
      low = innerHeight - stage.offsetHeight,
      wanted = WAY * items.length,
      more = Math.min(Math.max((wanted - (low - rest)) / 2, 0), half),
      from = Math.min(low + more, entered),
      to = Math.max(rest - half, Math.min(rest - more, from - wanted));
    const share = from > to ? (from - top) / (from - to) : 0,
      step = Math.min(Math.max(Math.floor(share * items.length), 0), last);
    if (step !== at) show(step);
  };
  new IntersectionObserver(([{ isIntersecting }]) => {
    removeEventListener("scroll", read);
    if (!isIntersecting) return;
    if (!at) entered = body.getBoundingClientRect().top;
    addEventListener("scroll", read, { passive: true });
  }).observe(body);
}
