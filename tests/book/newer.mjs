// Which scripts hold syntax that the promised browsers lack: node newer.mjs SCRIPT...; writes their
// names as JSON.  esbuild rewrites what a browser lacks, so a script that it leaves alone holds none.
import { readFileSync } from "node:fs";
import { transform } from "esbuild";
import { PROMISED } from "../../lib/handful_site/promised.mjs";

const newer = [];
for (const name of process.argv.slice(2)) {
  const code = readFileSync(name, "utf8");
  const [here, anywhere] = await Promise.all(
    [PROMISED, "esnext"].map((target) =>
      transform(code, { target, minify: true, logLevel: "silent" }).then(
        (done) => done.code,
        (error) => error.message,
      ),
    ),
  );
  if (here !== anywhere) newer.push(name);
}
process.stdout.write(JSON.stringify(newer));
