/** Makes the assets of the page: one script and one style sheet, minified, with the licences of what they hold. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const assets = process.argv[2] ?? "../graphscope/exporters/assets";

/** What the assets were made of, as one number: a test that needs no Node counts it again. */
function sourcesHash() {
  const names = [
    ...readdirSync("source")
      .sort()
      .map((name) => `source/${name}`),
    "build.mjs",
    "package-lock.json",
  ];
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(name));
  return hash.digest("hex");
}

const banner = `/* graphscope's page, made by \`make page\` of sources ${sourcesHash()}; holds dagre (MIT), see page.LICENSE.txt */`;
const common = { bundle: true, minify: true, legalComments: "none", target: "es2022", charset: "utf8" };
await build({
  ...common,
  entryPoints: ["source/main.ts"],
  format: "iife",
  globalName: "graphscopePage",
  banner: { js: banner },
  outfile: `${assets}/page.js`,
});
await build({ ...common, entryPoints: ["source/page.css"], outfile: `${assets}/page.css` });
const licences = ["dagre", "graphlib"].map((name) => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/@dagrejs/${name}/package.json`, "utf8"));
  const text = readFileSync(`node_modules/@dagrejs/${name}/LICENSE`, "utf8").trim();
  return `@dagrejs/${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(`${assets}/page.LICENSE.txt`, licences.join("\n\n"));
