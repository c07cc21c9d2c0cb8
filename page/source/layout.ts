/** Where the boxes of one group lie: laid out when it is opened, by dagre, and kept until a size in it changes. */

import { layout as dagre, Graph } from "@dagrejs/dagre";
import type { Box, Link } from "./boxes";
import { HEADER, type Size } from "./measure";

export interface Point {
  x: number;
  y: number;
}

export interface Line {
  link: Link;
  points: Point[];
}

export interface Level extends Size {
  /** The corners of the children, from the corner of the group. */
  corners: Map<Box, Point>;
  lines: Line[];
}

const PADDING = 18;
const SPACES = { rankdir: "TB", nodesep: 26, edgesep: 14, ranksep: 34 };
const kept = new WeakMap<Box, { sizes: string; level: Level }>();

export function levelOf(group: Box, sizeOf: (of: Box) => Size): Level {
  const sizes = group.children.map(sizeOf);
  const known = sizes.map((size) => `${size.width}x${size.height}`).join();
  const found = kept.get(group);
  if (found?.sizes === known) return found.level;
  const level = arranged(group, sizes);
  kept.set(group, { sizes: known, level });
  return level;
}

function arranged(group: Box, sizes: Size[]): Level {
  const graph = new Graph();
  graph.setGraph({ ...SPACES });
  graph.setDefaultEdgeLabel(() => ({}));
  const names = new Map(group.children.map((child, place) => [child, String(place)]));
  group.children.forEach((_, place) => {
    graph.setNode(String(place), { ...sizes[place]! });
  });
  const links: [string, string, Link][] = group.links.map((link) => [
    names.get(link.source)!,
    names.get(link.target)!,
    link,
  ]);
  const ports = group.parent ? [...gates("in", group.entries, names), ...gates("out", group.exits, names)] : [];
  for (const port of new Set(ports.flat()))
    if (port === "in" || port === "out") graph.setNode(port, { width: 2, height: 2 });
  for (const [source, target] of [...links, ...ports]) graph.setEdge(source, target, {});
  dagre(graph);
  const size = graph.graph() as Size;
  const top = group.parent ? HEADER : 0;
  const corners = new Map<Box, Point>();
  group.children.forEach((child, place) => {
    const { x, y } = graph.node(String(place)) as Point;
    corners.set(child, {
      x: x - sizes[place]!.width / 2 + PADDING,
      y: y - sizes[place]!.height / 2 + top + (top ? 4 : PADDING),
    });
  });
  const width = Math.max(size.width, 0) + 2 * PADDING;
  const height = Math.max(size.height, 0) + top + PADDING + (top ? 4 : PADDING);
  const lines = [...links, ...ports].map(([source, target, link]) => {
    const told = (graph.edge(source, target) as { points: Point[] }).points;
    const points = told.map(({ x, y }) => ({ x: x + PADDING, y: y + top + (top ? 4 : PADDING) }));
    if (source === "in") points[0] = { x: width / 2, y: HEADER - 2 };
    if (target === "out") points[points.length - 1] = { x: width / 2, y: height };
    return { link, points };
  });
  return { width, height, corners, lines };
}

/** The links through the border of a group: one point at its top lets in, one at its bottom lets out. */
function gates(side: "in" | "out", of: Map<Box, Link>, names: Map<Box, string>): [string, string, Link][] {
  return Array.from(of, ([child, link]) => {
    const name = names.get(child)!;
    return side === "in" ? [side, name, link] : [name, side, link];
  });
}
