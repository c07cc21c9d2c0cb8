/** Which groups are open at first, so that one sees as much as one can look at. */

import { type Box, isGroup, walk } from "./boxes";
import { MAKING, UPDATE } from "./roles";

const MOST = 40;

/** Opens the largest groups that still leave a picture of some forty boxes, from the outermost inward. */
export function openedAtFirst(root: Box): Set<string> {
  const open = new Set([root.key]);
  let count = root.children.length;
  let level = root.children.filter(isGroup);
  while (level.length) {
    const next: Box[] = [];
    for (const each of level) {
      const more = each.children.length - 1;
      if (each.title === MAKING || each.title === UPDATE || each.kind === "repeat") continue;
      if (count + more > MOST && !(open.size === 1 && level.length === 1)) continue;
      open.add(each.key);
      count += more;
      next.push(...each.children.filter(isGroup));
    }
    level = next;
  }
  return open;
}

/** With one level more: every closed group that can be seen. */
export function openedOnce(root: Box, open: Set<string>, most: number): Set<string> {
  const found = new Set(open);
  let count = 0;
  for (const each of walk(root)) {
    const isSeen = !each.parent || open.has(each.parent.key);
    if (isSeen && isGroup(each) && !open.has(each.key) && count < most) {
      found.add(each.key);
      count += each.children.length;
    }
  }
  return found;
}
