/** Where the boxes of one group lie: laid out when it is opened, by dagre, and kept until a size in it changes. */

import { layout as dagre, Graph } from "@dagrejs/dagre";
import type { Box, Link } from "./boxes";
import { componentsOf } from "./components";
import { HEADER, type Size } from "./measure";
import { packed } from "./packing";

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

/** A link between children, or through the border of the group: then one end is a gate. */
interface Wire {
  source: Box | "in";
  target: Box | "out";
  link: Link;
}

const PADDING = 18;
const SPACES = { rankdir: "TB", nodesep: 26, edgesep: 14, ranksep: 34 };
const kept = new WeakMap<Box, { sizes: string; level: Level }>();

export function levelOf(group: Box, sizeOf: (of: Box) => Size): Level {
  const sizes = new Map(group.children.map((child) => [child, sizeOf(child)]));
  const known = [...sizes.values()].map((size) => `${size.width}x${size.height}`).join();
  const found = kept.get(group);
  if (found?.sizes === known) return found.level;
  const level = framed(group, sizes);
  kept.set(group, { sizes: known, level });
  return level;
}

/** The layout of what hangs together, each for itself, beside each other, inside of the border of the group. */
function framed(group: Box, sizes: Map<Box, Size>): Level {
  const wires: Wire[] = group.links.map((link) => ({ source: link.source, target: link.target, link }));
  if (group.parent) {
    for (const [child, link] of group.entries) wires.push({ source: "in", target: child, link });
    for (const [child, link] of group.exits) wires.push({ source: child, target: "out", link });
  }
  const parts = componentsOf(group.children, wires).map(({ members, joins }) => arranged(members, joins, sizes));
  const { places, width: inner, height: tall } = packed(parts, SPACES.nodesep);
  const top = group.parent ? HEADER + 4 : PADDING;
  const width = inner + 2 * PADDING;
  const height = tall + top + PADDING;
  const level: Level = { width, height, corners: new Map(), lines: [] };
  parts.forEach((part, place) => {
    const [right, down] = [places[place]!.x + PADDING, places[place]!.y + top];
    for (const [child, { x, y }] of part.corners) level.corners.set(child, { x: x + right, y: y + down });
    for (const { wire, points } of part.lines) {
      const moved = points.map(({ x, y }) => ({ x: x + right, y: y + down }));
      if (wire.source === "in") moved[0] = { x: width / 2, y: HEADER - 2 };
      if (wire.target === "out") moved[moved.length - 1] = { x: width / 2, y: height };
      level.lines.push({ link: wire.link, points: moved });
    }
  });
  return level;
}

interface Part extends Size {
  corners: Map<Box, Point>;
  lines: { wire: Wire; points: Point[] }[];
}

function arranged(members: Box[], wires: Wire[], sizes: Map<Box, Size>): Part {
  const graph = new Graph();
  graph.setGraph({ ...SPACES });
  graph.setDefaultEdgeLabel(() => ({}));
  const names = new Map<Box | "in" | "out", string>([
    ["in", "in"],
    ["out", "out"],
  ]);
  members.forEach((child, place) => {
    names.set(child, String(place));
    graph.setNode(String(place), { ...sizes.get(child)! });
  });
  for (const wire of wires) {
    for (const end of [wire.source, wire.target])
      if (typeof end === "string") graph.setNode(end, { width: 2, height: 2 });
    graph.setEdge(names.get(wire.source)!, names.get(wire.target)!, {});
  }
  dagre(graph);
  const { width, height } = graph.graph() as Size;
  const found = wires.map((wire) => {
    const { points } = graph.edge(names.get(wire.source)!, names.get(wire.target)!) as { points: Point[] };
    return { wire, points };
  });
  // The width is that of the boxes: lines may lead around them.
  const [left, right] = reach(found, width);
  const corners = new Map(
    members.map((child, place) => {
      const { x, y } = graph.node(String(place)) as Point;
      const size = sizes.get(child)!;
      return [child, { x: x - size.width / 2 - left, y: y - size.height / 2 }];
    }),
  );
  const lines = found.map(({ wire, points }) => ({ wire, points: points.map(({ x, y }) => ({ x: x - left, y })) }));
  return { width: right - left, height, corners, lines };
}

/** How far lines reach to both sides of what is so wide. */
function reach(lines: Part["lines"], width: number): [number, number] {
  let [left, right] = [0, width];
  for (const { points } of lines) for (const { x } of points) [left, right] = [Math.min(left, x), Math.max(right, x)];
  return [left, right];
}
