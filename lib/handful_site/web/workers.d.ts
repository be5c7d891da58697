// What the three workers of the page find beside themselves.

/** bundle.mjs assembles them from measure/kernel.mjs, as base64. */
declare const FUSED_KERNEL: string;
declare const PLAIN_KERNEL: string;
/** Bytes that the loop takes at a time. */
declare const KERNEL_TURN: number;

/** Flags of WebGPU; the compiler's own types have their numbers only. */
declare const GPUBufferUsage: Record<
  "STORAGE" | "UNIFORM" | "COPY_SRC" | "COPY_DST" | "MAP_READ",
  number
>;
declare const GPUMapMode: Record<"READ", number>;

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
