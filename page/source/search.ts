/** Finding boxes by what is written on them, and by the lines of the program that made them. */

import { type Box, walk } from "./boxes";
import { type Recording, textOf } from "./recording";
import type { Tree } from "./tree";

/** The boxes that answer to a text, in the order of the picture; every word of it must be there.
 * Lines of the program are looked through where no name answers. */
export function matchesOf(recording: Recording, tree: Tree, query: string): Box[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const row = /^#(\d+)$/.exec(query.trim());
  if (row) {
    const node = recording.nodes.row.indexOf(Number(row[1]));
    const card = node < 0 ? undefined : tree.cards.of.get(node);
    return card ? [card] : [];
  }
  const boxes = [...walk(tree.root)].filter((each) => each.parent);
  const answering = (textOfBox: (recording: Recording, of: Box) => string): Box[] =>
    boxes.filter((each) => {
      const text = textOfBox(recording, each).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  const found = answering(namesOf);
  return found.length ? found : answering(lineOf);
}

function namesOf(recording: Recording, of: Box): string {
  const own = [of.title, of.type, ...of.chips.map((chip) => chip.name)];
  if (of.node < 0) return own.join(" ");
  const told = (["label", "op", "name", "shape"] as const).map((column) => textOf(recording, column, of.node));
  return [...own, ...told].join(" ");
}

/** The line of the program that made a box. */
function lineOf(recording: Recording, of: Box): string {
  const { nodes, sites, strings } = recording;
  const site = of.node < 0 ? -1 : nodes.site[of.node]!;
  if (site < 0) return "";
  return strings[sites.text[site]![sites.line[site]! - sites.begin[site]!] ?? 0] ?? "";
}
