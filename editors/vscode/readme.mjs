/** Writes the readme that is packed: with its pictures inside, since the editor shows none of an extension's folder. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const written = readFileSync("README.md", "utf8");
const packed = written.replace(
  /\]\((images\/[\w-]+\.png)\)/g,
  (_, path) => `](data:image/png;base64,${readFileSync(path, "base64")})`,
);
mkdirSync("dist", { recursive: true });
writeFileSync("dist/README.md", packed);
