// What the two workers of the page find beside themselves.

/** offline.py writes it before sw.js. */
declare const EDITION: {
  name: string;
  core: string[];
  pages: Record<string, string>;
  files: Record<string, string>;
  policy: string;
};

/** Pyodide lies beside worker.js on the site; its own types want a page. */
declare module "*/pyodide.mjs" {
  interface Callable {
    run(code: string, earlier: string): string;
  }
  export function loadPyodide(options: {
    indexURL: string;
    env: Record<string, string>;
  }): Promise<{
    unpackArchive(archive: ArrayBuffer, format: string, where: { extractDir: string }): void;
    runPython(code: string): Callable;
    globals: { set(name: string, value: unknown): void };
  }>;
}
