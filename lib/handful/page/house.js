// The theme's buttons with inline handlers, which the Content-Security-Policy forbids: page/finish.py turns
// onclick="…" into data-do="…".
const actions = {
  print: () => window.print(),
  fullscreen: () => window.toggleFullScreen?.(),
};

for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => actions[button.dataset.do]?.());
}
