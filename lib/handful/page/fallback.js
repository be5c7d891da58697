// Runs in any browser, before the page's own script (finish.py puts it at the head of the theme's first one): if that script
// has not come up when everything is loaded, because it is missing or newer than the browser, the page says so.
addEventListener("load", function () {
  var root = document.documentElement, main = document.querySelector("article.bd-article") || document.querySelector("main");
  if (root.hasAttribute("data-up") || !main) return;
  var line = document.createElement("p");
  line.className = "page-trouble";
  line.setAttribute("role", "status");
  line.textContent = "The interactive parts of this page did not start; its text and still pictures are all here. Reload the page to try again; they take a browser of 2022 or newer.";
  main.insertBefore(line, main.firstChild);
  // What waits within <noscript> is for readers like this one.
  [].forEach.call(main.querySelectorAll("noscript"), function (held) { held.outerHTML = held.textContent; });
});
