// The book with no network: a service worker.  offline.py writes one line before this file:
//   EDITION = { name, core: [names], pages: {name: title},
//               files: {name: 16 hex digits of the SHA-256 of its content} }
//
// A page and all that it loads come from one edition.  Two ways were weighed:
//   - addresses with ?v=… and whatever edition is active: right only while everybody remembers to
//     stamp everything that a page may ever ask for, and a host ignores the stamp: it hands out
//     what it has now, under the old address;
//   - a tab is pinned to the edition that its navigation was answered from, whatever is active
//     later.  That asks nothing of the pages, and one rule covers all files.  This is what is done
//     here.
// A pin is written down, since a browser ends an idle worker after half a minute and starts it
// again without memory.
//
// An edition has a cache of its own.  The core (what pages share: scripts, sheets, fonts, the
// search index) is complete and checked, file by file, before the edition is taken into use; a page
// is added when it is opened, or with all others when the reader asks for the whole book.  What is
// not in EDITION.files (PDF, EPUB, notebooks, Pyodide) always comes from the host.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const HOME = new URL("./", self.location.href),
  MINE = `handful ${HOME.pathname} `,
  PINS = `${MINE}pins`;
const NETWORK = "network"; // the pin of a tab that shows what the host has now, of whatever edition
const ME = EDITION.name,
  files = new Map(Object.entries(EDITION.files)),
  titles = new Map(Object.entries(EDITION.pages));
const AT_ONCE = 4;

/** @param {string} edition */
const cacheOf = (edition) => caches.open(MINE + edition);
/** @param {string} name */
const key = (name) => new URL(name, HOME).href;
const LIST = key("-edition"),
  pinKey = (/** @type {string} */ client) => key(`-tab?pin=${client}`); // names that no file has
/**
 * @param {string} edition
 * @param {string} name
 */
const held = (edition, name) =>
  caches.match(key(name), { cacheName: MINE + edition, ignoreVary: true }); // makes no cache
// Added while the page is read; not where the reader has removed everything and a tab is still
// open.
/**
 * @param {string} name
 * @param {Response} answer
 */
const add = async (name, answer) => {
  if (await caches.has(MINE + ME)) await (await cacheOf(ME)).put(key(name), answer);
};

// Hosts show a page as part/, part/index.html, page or page.html.
/** @param {URL} url */
function nameOf(url) {
  let path = url.pathname.slice(HOME.pathname.length);
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
async function mark(body) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return [...sum.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// As it is kept: unpacked, and never the answer to a redirect, which a browser refuses for a page.
/**
 * @param {Response} answer
 * @param {ArrayBuffer} body
 */
function kept(answer, body) {
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length", "vary"]) headers.delete(name);
  return new Response(body, { headers });
}

// A file of this edition from the host, checked.  First as the pages ask for it, so that the
// browser's own cache serves; then, past every cache on the way, under an address that no older
// edition had.
/** @param {string} name */
async function bring(name) {
  const want = files.get(name);
  for (const [address, cache] of /** @type {[string, RequestCache][]} */ ([
    [key(name), titles.has(name) ? "no-cache" : "default"],
    [`${key(name)}?v=${want}`, "reload"],
  ])) {
    const answer = await fetch(address, { cache }),
      body = await answer.arrayBuffer();
    if (answer.ok && (await mark(body)) === want) return kept(answer, body);
  }
  throw new DOMException(`${name} on the host is not the one of this edition`, "VersionError");
}

/**
 * @param {Iterable<string>} names
 * @param {(name: string) => Promise<unknown>} work
 */
async function each(names, work) {
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (waiting.length) await work(/** @type {string} */ (waiting.shift()));
    }),
  );
}

// Other editions that are here: [name, its list of files or none where its download was not
// finished].
/** @returns {Promise<[string, Record<string, string> | undefined][]>} */
async function others() {
  const names = (await caches.keys()).filter(
    (name) => name.startsWith(MINE) && name !== PINS && name !== MINE + ME,
  );
  return Promise.all(
    names.map(async (name) => {
      const list = await (await caches.open(name)).match(LIST);
      return [name.slice(MINE.length), await list?.json()];
    }),
  );
}

// A new edition: its core, and those pages that were kept before.  What did not change is taken
// from what is here, and a download that broke off goes on where it stopped, since what lies in the
// cache has been checked.
async function fill() {
  if (!("resultingClientId" in FetchEvent.prototype))
    throw new Error("This browser does not say which tab a page goes to.");
  const cache = await cacheOf(ME),
    wanted = new Set(EDITION.core),
    before = await others();
  for (const [edition] of before)
    for (const { url } of await (await cacheOf(edition)).keys())
      if (titles.has(nameOf(new URL(url)))) wanted.add(nameOf(new URL(url)));
  await each(wanted, async (name) => {
    if (await cache.match(key(name))) return;
    const same = before.find(([, list]) => list?.[name] === files.get(name));
    await cache.put(key(name), (same && (await held(same[0], name))) || (await bring(name)));
  });
  await cache.put(LIST, new Response(JSON.stringify(EDITION.files)));
}

/** @type {Map<string, string | Promise<string>>} */
const known = new Map(); // client → its edition, or a promise of it

/**
 * @param {string} client
 * @returns {Promise<string>}
 */
async function pinOf(client) {
  if (!client) return ME;
  const before = known.get(client);
  if (before) return before;
  const found = (async () =>
    (await (await (await caches.open(PINS)).match(pinKey(client)))?.text()) ?? ME)();
  known.set(client, found);
  return found;
}

/**
 * @param {FetchEvent} event
 * @param {string | Promise<string>} edition
 */
function pin(event, edition) {
  const client = event.resultingClientId;
  if (!client) return;
  known.set(client, edition);
  event.waitUntil(
    (async () =>
      (await caches.open(PINS)).put(pinKey(client), new Response(await edition)))().catch(() => {}),
  );
}

// Editions that no tab shows go, and the pins of tabs that are gone.  While a newer edition is on
// its way nothing is touched.
/** @param {boolean} [halves] */
async function tidy(halves = false) {
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
      if (client) known.delete(client);
    }
  }
  for (const [edition, list] of await others())
    if (!used.has(edition) && (list || halves)) await caches.delete(MINE + edition);
}

// Which edition is this answer of the host's for a page?  If it is this one, the page is kept.
/**
 * @param {string} name
 * @param {Response} answer
 */
async function judge(name, answer) {
  if (!answer.ok) return NETWORK;
  const body = await answer.arrayBuffer();
  if ((await mark(body)) !== files.get(name)) return NETWORK;
  try {
    await add(name, kept(answer, body));
  } catch {
    /* no room: it is read all the same */
  }
  return ME;
}

/**
 * @param {FetchEvent} event
 * @param {string} name
 */
async function page(event, name) {
  const here = await held(ME, name).catch(() => null);
  if (here) {
    pin(event, ME);
    return here;
  }
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return notKept(name);
  }
  if (answer.type === "opaqueredirect") return answer;
  // The page is shown as it arrives; its parts wait until it is known which edition it is of.
  const edition = files.has(name)
    ? judge(name, answer.clone()).catch(() => NETWORK)
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
async function part({ request, clientId }, name) {
  const edition = await pinOf(clientId);
  if (edition === NETWORK) return fetch(request);
  const here = await held(edition, name).catch(() => null);
  if (here) return here;
  const mine =
    edition === ME ? EDITION.files : (await (await held(edition, "-edition"))?.json()) || {};
  if (!Object.hasOwn(mine, name)) return fetch(request);
  if (mine[name] !== files.get(name))
    return new Response("This file was replaced by that of a newer edition; reload the page.", {
      status: 409,
    });
  let answer;
  try {
    answer = await bring(name);
  } catch (error) {
    return error instanceof DOMException && error.name === "VersionError"
      ? new Response(error.message, { status: 409 })
      : Response.error();
  }
  await add(name, answer.clone()).catch(() => {});
  return answer;
}

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

async function keptPages() {
  const here = new Set((await (await cacheOf(ME)).keys()).map(({ url }) => nameOf(new URL(url))));
  return [...titles.keys()].filter((name) => here.has(name));
}

/** @param {string} name */
async function notKept(name) {
  const list = (await keptPages()).map(
    (one) => `<li><a href="${escaped(key(one))}">${escaped(titles.get(one) ?? "")}</a></li>`,
  );
  const title = titles.has(name)
    ? `“${escaped(titles.get(name) ?? "")}” is not kept on this device`
    : "There is no network, and no such page here";
  const says = list.length ? "These pages are kept and read without one:" : "No page is kept yet.";
  const lines = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(EDITION.policy)}">` +
      `<title>${title}</title>`,
    `<link rel="stylesheet" href="${key("_static/handful/offline.css")}"></head>` +
      `<body><main><h1>${title}</h1>`,
    `<p>There is no network just now. ${says}</p><ul>${list.join("")}</ul>`,
    `<p>With a network, <a href="${key("about.html")}#reading-with-no-network">a page about this ` +
      "book</a> keeps all of it for you.</p></main></body></html>",
  ];
  return new Response(lines.join("\n"), {
    status: 503,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}

/** @type {Record<string, string>} */
const TROUBLE = { QuotaExceededError: "full", VersionError: "edition" };
/** @type {Record<string, (message: { names: string[] }) => Promise<unknown>>} */
const WORK = {
  take: async () => worker.skipWaiting(),
  state: async () => ({ edition: ME, all: [...titles.keys()], kept: await keptPages() }),
  // A few pages at a time: who asks counts, and goes on another day where it stopped.
  keep: async ({ names }) => {
    const cache = await cacheOf(ME);
    try {
      await each(
        names.filter((name) => titles.has(name)),
        async (name) => {
          if (!(await cache.match(key(name)))) await cache.put(key(name), await bring(name));
        },
      );
      return { done: true };
    } catch (error) {
      const { name } = /** @type {Error} */ (error);
      return { trouble: TROUBLE[name] || "network" };
    }
  },
};

worker.addEventListener("install", (event) => event.waitUntil(fill()));
worker.addEventListener("activate", (event) => event.waitUntil(tidy(true).catch(() => {})));
worker.addEventListener("message", (event) => {
  const work = WORK[event.data?.ask];
  if (work) event.waitUntil(work(event.data).then((answer) => event.ports[0]?.postMessage(answer)));
});
worker.addEventListener("fetch", (event) => {
  const { request } = event,
    url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(HOME.href) || request.headers.has("range"))
    return;
  const name = nameOf(url);
  if (request.mode === "navigate") {
    // A download that is opened as a page, and whatever else is not of the book's own, is the
    // host's affair.
    event.respondWith(page(event, name));
    event.waitUntil(tidy().catch(() => {}));
  } else {
    // a worker of the page's goes with the page
    if (event.resultingClientId) pin(event, pinOf(event.clientId));
    event.respondWith(part(event, name));
  }
});
