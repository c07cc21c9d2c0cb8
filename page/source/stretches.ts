/** Groups of more boxes than one can look at are parted into stretches, by the functions that made them. */

import { type Box, box, isGroup } from "./boxes";
import type { Recording } from "./recording";

const MOST = 90;
const STRETCH = 30;

export function partLong(of: Box, recording: Recording): void {
  for (const child of of.children) if (isGroup(child)) partLong(child, recording);
  while (of.children.length > MOST) of.children = parted(of, recording);
}

function parted(of: Box, recording: Recording): Box[] {
  const inputs = of.children.filter((each) => each.kind === "leaf");
  const others = of.children.filter((each) => each.kind !== "leaf");
  const moved = inputs.length > STRETCH ? of.children : others;
  const found: Box[] = inputs.length > STRETCH ? [] : inputs;
  let open: Box | null = null;
  for (const each of moved) {
    const title = functionOf(each, recording);
    if (!open || open.children.length >= STRETCH || (open.title !== title && open.children.length >= 4)) {
      open = box("stretch", title, "");
      open.parent = of;
      found.push(open);
    }
    each.parent = open;
    open.children.push(each);
    open.forward.push(...each.forward);
    open.backward.push(...each.backward);
  }
  return found;
}

function functionOf(of: Box, recording: Recording): string {
  const node = of.forward[0] ?? of.backward[0];
  const site = node === undefined ? -1 : recording.nodes.site[node]!;
  return (site >= 0 && recording.strings[recording.sites.function[site]!]) || "…";
}
