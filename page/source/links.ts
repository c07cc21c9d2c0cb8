/** Edges of nodes as links of boxes: each stands once, in the innermost group that holds both of its ends. */

import type { Box, Link } from "./boxes";
import type { Cards } from "./cards";
import { type Recording, textOf } from "./recording";
import { MAKING, UPDATE } from "./roles";

export function linkUp(recording: Recording, cards: Cards, root: Box): void {
  const { edges } = recording;
  const known = new Map<Box, Map<Box, Link>>();

  function joined(source: Box, target: Box, isGradient: boolean, shape: string): void {
    let [one, other] = [source, target];
    while (one.depth > other.depth) one = leave(one, "exits", isGradient, shape);
    while (other.depth > one.depth) other = leave(other, "entries", isGradient, shape);
    while (one.parent !== other.parent) {
      one = leave(one, "exits", isGradient, shape);
      other = leave(other, "entries", isGradient, shape);
    }
    if (one === other || !one.parent) return;
    const links = known.get(one) ?? new Map<Box, Link>();
    known.set(one, links);
    let link = links.get(other);
    if (!link) {
      link = { source: one, target: other, data: 0, gradients: 0, shape };
      links.set(other, link);
      one.parent.links.push(link);
    }
    count(link, isGradient);
  }

  for (let edge = 0; edge < edges.source.length; edge++) {
    const [from, to] = [edges.source[edge]!, edges.target[edge]!];
    const [source, target] = [cards.of.get(from), cards.of.get(to)];
    if (!source || !target || source === target) continue;
    const isGradient = edges.gradient[edge] === 1 && recording.nodes.backward[to] === 1; // ops behind take it as a value
    if (cards.chips.has(from) || isBetweenRoles(recording, from, to)) continue; // it stands on the card that takes it
    const shape = textOf(recording, "shape", isGradient ? to : from);
    if (isGradient) joined(target, source, true, shape);
    else joined(source, target, false, shape);
  }
  order(root);
}

/** Whether an edge only says that parameters are made ahead of what uses them, or updated behind it. */
function isBetweenRoles({ nodes }: Recording, from: number, to: number): boolean {
  return nodes.role !== undefined && nodes.role[from] !== nodes.role[to];
}

/** Goes from a box to the group around it, which notes what leaves or enters there. */
function leave(of: Box, side: "exits" | "entries", isGradient: boolean, shape: string): Box {
  const group = of.parent!;
  let link = group[side].get(of);
  if (!link) {
    link = {
      source: side === "exits" ? of : group,
      target: side === "exits" ? group : of,
      data: 0,
      gradients: 0,
      shape,
    };
    group[side].set(of, link);
  }
  count(link, isGradient);
  return group;
}

function count(link: Link, isGradient: boolean): void {
  if (isGradient) link.gradients++;
  else link.data++;
}

/** What the optimizer does comes behind all else, and what makes parameters ahead of it: a link that is not drawn. */
function order(root: Box): void {
  const made = root.children.find((each) => each.title === MAKING);
  const update = root.children.find((each) => each.title === UPDATE);
  const rest = root.children.filter((each) => each !== made && each !== update && each.kind !== "leaf");
  const [first, last] = [rest[0], rest[rest.length - 1]];
  if (made && first) root.links.push({ source: made, target: first, data: 0, gradients: 0, shape: "" });
  if (update && last) root.links.push({ source: last, target: update, data: 0, gradients: 0, shape: "" });
}
