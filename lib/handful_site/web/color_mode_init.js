// Runs in any browser, before anything is painted: the one script that a page waits for.  Light or
// dark, as the reader has chosen or as their system has it:
(function () {
  var root = document.documentElement,
    mode = null;
  try {
    mode = localStorage.getItem("mode");
  } catch (error) {
    /* a page may be denied it */
  }
  if (mode !== "light" && mode !== "dark") mode = "auto";
  root.setAttribute("data-mode", mode);
  if (mode === "auto")
    mode =
      window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches
        ? "dark"
        : "light";
  root.setAttribute("data-theme", mode);
  // Plots that ask for a guess wait for their script, which knows whether this reader is asked.
  try {
    if (!location.search && !/"never":true/.test(localStorage.getItem("handful-guesses") || ""))
      root.setAttribute("data-asks", "");
  } catch (error) {
    /* then as the still picture goes */
  }
})();

// If the page's own script has not come up when everything is loaded, because it is missing or
// newer than the browser, the page says so.
addEventListener("load", function () {
  var root = document.documentElement,
    main = document.querySelector("article.article") || document.querySelector("main");
  if (root.hasAttribute("data-up")) return;
  root.removeAttribute("data-asks");
  if (!main) return;
  var line = document.createElement("p");
  line.className = "page-trouble";
  line.setAttribute("role", "status");
  line.textContent =
    "The interactive parts of this page did not start; its text and still pictures are all " +
    "here. Reload the page to try again; they take a browser of 2022 or newer.";
  main.insertBefore(line, main.firstChild);
  // What waits within <noscript> is for readers like this one.
  [].forEach.call(main.querySelectorAll("noscript"), function (/** @type {Element} */ held) {
    held.outerHTML = held.textContent || "";
  });
});
