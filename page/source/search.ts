/** Finding boxes by what is written on them, and by the lines of the program that made them. */

import { type Box, walk } from "./boxes";
import { type Recording, textOf } from "./recording";
import type { Tree } from "./tree";

/** The boxes that answer to a text, in the order of the picture; every word of it must be there. */
export function matchesOf(recording: Recording, tree: Tree, query: string): Box[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const row = /^#(\d+)$/.exec(query.trim());
  if (row) {
    const node = recording.nodes.row.indexOf(Number(row[1]));
    const card = node < 0 ? undefined : tree.cards.of.get(node);
    return card ? [card] : [];
  }
  const found: Box[] = [];
  for (const each of walk(tree.root)) {
    if (!each.parent) continue;
    const text = textOfBox(recording, each).toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(each);
  }
  return found;
}

function textOfBox(recording: Recording, of: Box): string {
  const own = [of.title, of.type, ...of.chips.map((chip) => chip.name)];
  if (of.node < 0) return own.join(" ");
  const { nodes, sites, strings } = recording;
  const site = nodes.site[of.node]!;
  const line = site < 0 ? "" : (strings[sites.text[site]![sites.line[site]! - sites.begin[site]!] ?? 0] ?? "");
  const told = (["label", "op", "name", "shape"] as const).map((column) => textOf(recording, column, of.node));
  return [...own, ...told, line].join(" ");
}
