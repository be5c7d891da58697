// A button at the end of a page with code cells.  Python, and the script that works it, come on its click and
// not before.
import "./python.css";

/** @returns {Promise<typeof import("./cells.js")>} */
const fetchPython = () => import(new URL(`./python.js?v=${PYTHON_MARK}`, import.meta.url).href);

export function offerPython() {
  const bar = document.querySelector(".python-bar"),
    base = document.documentElement.dataset.python;
  if (!bar || !base) return;
  bar.classList.add("python-on");
  bar.querySelector("button")?.addEventListener("click", () => {
    if (bar.getAttribute("aria-busy") === "true") return;
    bar.setAttribute("aria-busy", "true");
    fetchPython()
      .then(({ start }) => start(bar, new URL(base, location.href)))
      .catch((error) => {
        console.warn(`Python in the page: ${error.message}`);
        const said = bar.querySelector("[role=status]");
        if (!said) return;
        said.textContent =
          "Python could not be loaded: no network, or a browser that is too old for it. The " +
          "page is as it was, and the notebook in its download menu runs in Jupyter.";
      })
      .finally(() => bar.setAttribute("aria-busy", "false"));
  });
}
