// The book with no network: a service worker.  offline.py writes one line before this file:
//   EDITION = { name, core: [names], pages: {name: title},
//               files: {name: 16 hex digits of the SHA-256 of its content} }
//
// A page and all that it loads come from one edition: a tab is pinned to the edition that its
// navigation was answered from, whatever is active later.  Names that hold a mark of the content
// are not enough: neither the host nor the newer edition has the script that a tab of the older one
// asks for late.
// A pin is written down, since a browser ends an idle worker after half a minute and starts it
// again without memory.
//
// An edition has a cache of its own.  The core (what pages share: scripts, sheets, fonts, the
// search index) is complete and checked, file by file, before the edition is taken into use; a page
// is added when it is opened, or with all others when the reader asks for the whole book.  What is
// not in EDITION.files (PDF, EPUB, notebooks, Pyodide) always comes from the host.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const SCOPE = new URL("./", self.location.href),
  PREFIX = `handful ${SCOPE.pathname} `,
  PINS = `${PREFIX}pins`;
const NETWORK = "network"; // the pin of a tab that shows what the host has now, of whatever edition
const CURRENT = EDITION.name,
  files = new Map(Object.entries(EDITION.files)),
  titles = new Map(Object.entries(EDITION.pages));
const PARALLEL_DOWNLOADS = 4;

/** @param {string} edition */
const openCache = (edition) => caches.open(PREFIX + edition);
/** @param {string} name */
const urlOf = (name) => new URL(name, SCOPE).href;
const FILE_LIST = urlOf("-edition"),
  pinUrl = (/** @type {string} */ client) => urlOf(`-tab?pin=${client}`); // names that no file has
/**
 * @param {string} edition
 * @param {string} name
 */
const match = (edition, name) =>
  caches.match(urlOf(name), { cacheName: PREFIX + edition, ignoreVary: true }); // makes no cache
// Added while the page is read; not where the reader has removed everything and a tab is still
// open.
/**
 * @param {string} name
 * @param {Response} answer
 */
const store = async (name, answer) => {
  if (await caches.has(PREFIX + CURRENT)) await (await openCache(CURRENT)).put(urlOf(name), answer);
};

// Hosts show a page as part/, part/index.html, page or page.html.
/** @param {URL} url */
function fileName(url) {
  let path = url.pathname.slice(SCOPE.pathname.length);
  try {
    path = decodeURIComponent(path);
  } catch {
    /* no file of ours has such a name */
  }
  return (
    [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].find((name) =>
      files.has(name),
    ) ?? path
  );
}

/** @param {ArrayBuffer} body */
async function digest(body) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return [...sum.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// As it is kept: unpacked, and never the answer to a redirect, which a browser refuses for a page.
/**
 * @param {Response} answer
 * @param {ArrayBuffer} body
 */
function storable(answer, body) {
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length", "vary"]) headers.delete(name);
  return new Response(body, { headers });
}

// A file of this edition from the host, checked.  First as the pages ask for it, so that the
// browser's own cache serves; then, past every cache on the way, under an address that no older
// edition had.
/** @param {string} name */
async function download(name) {
  const expected = files.get(name);
  for (const [address, cache] of /** @type {[string, RequestCache][]} */ ([
    [urlOf(name), titles.has(name) ? "no-cache" : "default"],
    [`${urlOf(name)}?v=${expected}`, "reload"],
  ])) {
    const answer = await fetch(address, { cache }),
      body = await answer.arrayBuffer();
    if (answer.ok && (await digest(body)) === expected) return storable(answer, body);
  }
  throw new DOMException(`${name} on the host is not the one of this edition`, "VersionError");
}

/**
 * @param {Iterable<string>} names
 * @param {(name: string) => Promise<unknown>} work
 */
async function runParallel(names, work) {
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: PARALLEL_DOWNLOADS }, async () => {
      while (waiting.length) await work(/** @type {string} */ (waiting.shift()));
    }),
  );
}

// Other editions that are here: [name, its list of files or none where its download was not
// finished].
/** @returns {Promise<[string, Record<string, string> | undefined][]>} */
async function otherEditions() {
  const names = (await caches.keys()).filter(
    (name) => name.startsWith(PREFIX) && name !== PINS && name !== PREFIX + CURRENT,
  );
  return Promise.all(
    names.map(async (name) => {
      const list = await (await caches.open(name)).match(FILE_LIST);
      return [name.slice(PREFIX.length), await list?.json()];
    }),
  );
}

// A new edition: its core, and those pages that were kept before.  What did not change is taken
// from what is here, and a download that broke off goes on where it stopped, since what lies in the
// cache has been checked.
async function installCore() {
  if (!("resultingClientId" in FetchEvent.prototype))
    throw new Error("This browser does not say which tab a page goes to.");
  const cache = await openCache(CURRENT),
    wanted = new Set(EDITION.core),
    before = await otherEditions();
  for (const [edition] of before)
    for (const { url } of await (await openCache(edition)).keys())
      if (titles.has(fileName(new URL(url)))) wanted.add(fileName(new URL(url)));
  await runParallel(wanted, async (name) => {
    if (await cache.match(urlOf(name))) return;
    const same = before.find(([, list]) => list?.[name] === files.get(name));
    await cache.put(urlOf(name), (same && (await match(same[0], name))) || (await download(name)));
  });
  await cache.put(FILE_LIST, new Response(JSON.stringify(EDITION.files)));
}

/** @type {Map<string, string | Promise<string>>} */
const editionByClient = new Map();

/**
 * @param {string} client
 * @returns {Promise<string>}
 */
async function editionOf(client) {
  if (!client) return CURRENT;
  const before = editionByClient.get(client);
  if (before) return before;
  const found = (async () =>
    (await (await (await caches.open(PINS)).match(pinUrl(client)))?.text()) ?? CURRENT)();
  editionByClient.set(client, found);
  return found;
}

/**
 * @param {FetchEvent} event
 * @param {string | Promise<string>} edition
 */
function pin(event, edition) {
  const client = event.resultingClientId;
  if (!client) return;
  editionByClient.set(client, edition);
  event.waitUntil(
    (async () =>
      (await caches.open(PINS)).put(pinUrl(client), new Response(await edition)))().catch(() => {}),
  );
}

// Editions that no tab shows go, and the pins of tabs that are gone.  While a newer edition is on
// its way nothing is touched.
/** @param {boolean} [unfinished] */
async function deleteUnused(unfinished = false) {
  const { registration } = worker;
  if (registration.waiting || registration.installing) return;
  const pins = await caches.open(PINS),
    /** @type {Set<string>} */
    used = new Set();
  for (const request of await pins.keys()) {
    const client = new URL(request.url).searchParams.get("pin");
    if (client && (await worker.clients.get(client)))
      used.add((await (await pins.match(request))?.text()) ?? "");
    else {
      await pins.delete(request);
      if (client) editionByClient.delete(client);
    }
  }
  for (const [edition, list] of await otherEditions())
    if (!used.has(edition) && (list || unfinished)) await caches.delete(PREFIX + edition);
}

// Which edition is this answer of the host's for a page?  If it is this one, the page is kept.
/**
 * @param {string} name
 * @param {Response} answer
 */
async function identifyPage(name, answer) {
  if (!answer.ok) return NETWORK;
  const body = await answer.arrayBuffer();
  if ((await digest(body)) !== files.get(name)) return NETWORK;
  try {
    await store(name, storable(answer, body));
  } catch {
    /* no room: it is read all the same */
  }
  return CURRENT;
}

/**
 * @param {FetchEvent} event
 * @param {string} name
 */
async function answerNavigation(event, name) {
  const stored = await match(CURRENT, name).catch(() => null);
  if (stored) {
    pin(event, CURRENT);
    return stored;
  }
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return offlinePage(name);
  }
  if (answer.type === "opaqueredirect") return answer;
  // The page is shown as it arrives; its parts wait until it is known which edition it is of.
  const edition = files.has(name)
    ? identifyPage(name, answer.clone()).catch(() => NETWORK)
    : Promise.resolve(NETWORK);
  pin(event, edition);
  event.waitUntil(
    edition
      .then((found) => (found === NETWORK ? worker.registration.update() : null))
      .catch(() => {}),
  );
  return answer;
}

/**
 * @param {FetchEvent} event
 * @param {string} name
 */
async function answerRequest({ request, clientId }, name) {
  const edition = await editionOf(clientId);
  if (edition === NETWORK) return fetch(request);
  const stored = await match(edition, name).catch(() => null);
  if (stored) return stored;
  const list =
    edition === CURRENT ? EDITION.files : (await (await match(edition, "-edition"))?.json()) || {};
  if (!Object.hasOwn(list, name)) return fetch(request);
  if (list[name] !== files.get(name))
    return new Response("This file was replaced by that of a newer edition; reload the page.", {
      status: 409,
    });
  let answer;
  try {
    answer = await download(name);
  } catch (error) {
    return error instanceof DOMException && error.name === "VersionError"
      ? new Response(error.message, { status: 409 })
      : Response.error();
  }
  await store(name, answer.clone()).catch(() => {});
  return answer;
}

/** @param {string} text */
const escapeHtml = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

async function storedPages() {
  const cache = await openCache(CURRENT),
    stored = new Set((await cache.keys()).map(({ url }) => fileName(new URL(url))));
  return [...titles.keys()].filter((name) => stored.has(name));
}

/** @param {string} name */
async function offlinePage(name) {
  const list = (await storedPages()).map(
    (one) =>
      `<li><a href="${escapeHtml(urlOf(one))}">${escapeHtml(titles.get(one) ?? "")}</a></li>`,
  );
  const title = titles.has(name)
    ? `“${escapeHtml(titles.get(name) ?? "")}” is not kept on this device`
    : "There is no network, and no such page here";
  const says = list.length ? "These pages are kept and read without one:" : "No page is kept yet.";
  const lines = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(EDITION.policy)}">` +
      `<title>${title}</title>`,
    `<link rel="stylesheet" href="${urlOf("_static/handful/offline.css")}"></head>` +
      `<body><main><h1>${title}</h1>`,
    `<p>There is no network just now. ${says}</p><ul>${list.join("")}</ul>`,
    `<p>With a network, <a href="${urlOf("about.html")}#reading-with-no-network">a page about ` +
      "this book</a> keeps all of it for you.</p></main></body></html>",
  ];
  return new Response(lines.join("\n"), {
    status: 503,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}

/** @type {Record<string, string>} */
const ERROR_CODES = { QuotaExceededError: "full", VersionError: "edition" };
/** @type {Record<string, (message: { names: string[] }) => Promise<unknown>>} */
const COMMANDS = {
  take: async () => worker.skipWaiting(),
  state: async () => ({ edition: CURRENT, all: [...titles.keys()], kept: await storedPages() }),
  // A few pages at a time: who asks counts, and goes on another day where it stopped.
  keep: async ({ names }) => {
    const cache = await openCache(CURRENT);
    try {
      await runParallel(
        names.filter((name) => titles.has(name)),
        async (name) => {
          if (!(await cache.match(urlOf(name)))) await cache.put(urlOf(name), await download(name));
        },
      );
      return { done: true };
    } catch (error) {
      const { name } = /** @type {Error} */ (error);
      return { trouble: ERROR_CODES[name] || "network" };
    }
  },
};

worker.addEventListener("install", (event) => event.waitUntil(installCore()));
worker.addEventListener("activate", (event) => event.waitUntil(deleteUnused(true).catch(() => {})));
worker.addEventListener("message", (event) => {
  const work = COMMANDS[event.data?.ask];
  if (work) event.waitUntil(work(event.data).then((answer) => event.ports[0]?.postMessage(answer)));
});
worker.addEventListener("fetch", (event) => {
  const { request } = event,
    url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(SCOPE.href) || request.headers.has("range"))
    return;
  const name = fileName(url);
  if (request.mode === "navigate") {
    // A download that is opened as a page, and whatever else is not of the book's own, is the
    // host's affair.
    event.respondWith(answerNavigation(event, name));
    event.waitUntil(deleteUnused().catch(() => {}));
  } else {
    // a worker of the page's goes with the page
    if (event.resultingClientId) pin(event, editionOf(event.clientId));
    event.respondWith(answerRequest(event, name));
  }
});
