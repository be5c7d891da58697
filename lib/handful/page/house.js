// The theme's buttons with inline handlers, which the Content-Security-Policy forbids: page/finish.py turns
// onclick="…" into data-do="…".
const actions = {
  print: () => window.print(),
  fullscreen: () => window.toggleFullScreen?.(),
};

addEventListener("click", (event) => actions[event.target.closest?.("[data-do]")?.dataset.do]?.());

// Menus, search field and copy buttons are the theme's; they come when the page has been shown.
const theme = document.getElementById("theme-script");
const bring = () => {
  const script = document.createElement("script");
  script.src = theme.href;
  document.head.append(script);
};
if (theme) addEventListener("load", () => (window.requestIdleCallback || setTimeout)(bring, { timeout: 2000 }));
