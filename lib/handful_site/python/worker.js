// Python apart from the page: answers {run, code, earlier} with {outputs}, and tells of its own
// loading.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL(".", import.meta.url),
  plain = self.fetch.bind(self);
let got = 0;
/** @type {(error: unknown) => void} */
let giveUp = () => {};
// Pyodide waits for ever for a runtime that did not come.
const lost = new Promise((_, fail) => {
  giveUp = fail;
});
lost.catch(() => {});

// Every file is counted while it comes; the runtime lies compressed under another name.
/** @param {string | URL} address */
async function counted(address) {
  const url = new URL(address, here),
    runtime = url.pathname.endsWith(".wasm");
  let answer;
  try {
    answer = await plain(runtime ? new URL("runtime.bin", here) : url);
    if (!answer.ok) throw new Error(`${answer.status} for ${url.pathname.split("/").pop()}`);
  } catch (error) {
    giveUp(error);
    throw error;
  }
  /** @type {TransformStream<Uint8Array, Uint8Array>} */
  const count = new TransformStream({
    transform(chunk, out) {
      got += chunk.length;
      postMessage({ got });
      out.enqueue(chunk);
    },
  });
  if (!answer.body) throw new Error(`${url.pathname.split("/").pop()} is empty`);
  const body = answer.body.pipeThrough(count),
    unpack = /** @type {ReadableWritablePair<Uint8Array, Uint8Array>} */ (
      /** @type {unknown} */ (new DecompressionStream("gzip"))
    );
  return new Response(runtime ? body.pipeThrough(unpack) : body, {
    headers: {
      "Content-Type": runtime ? "application/wasm" : answer.headers.get("Content-Type") || "",
    },
  });
}
self.fetch = (address) => counted(address instanceof Request ? address.url : address);

async function start() {
  const packages = counted("packages.zip").then((answer) => answer.arrayBuffer());
  const session = counted("session.py").then((answer) => answer.text());
  packages.catch(() => {});
  session.catch(() => {}); // said once, by what is awaited first
  const python = await Promise.race([
    loadPyodide({ indexURL: here.href, env: { HOME: "/home/pyodide" } }),
    lost,
  ]);
  python.unpackArchive(await packages, "zip", { extractDir: "/lib/packages" });
  postMessage({ unpacked: true });
  python.runPython("import sys; sys.path.insert(0, '/lib/packages')");
  const made = python.runPython("import types; session = types.ModuleType('session'); session");
  python.globals.set("text", await session);
  python.runPython("exec(compile(text, 'session.py', 'exec'), session.__dict__)\nimport sympy");
  return made.run;
}

const ready = start();
ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String((error && error.message) || error) }),
);
self.onmessage = async ({ data }) => {
  const run = await ready;
  postMessage({ run: data.run, outputs: JSON.parse(run(data.code, JSON.stringify(data.earlier))) });
};
