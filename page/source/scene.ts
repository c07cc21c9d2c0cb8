/** What lies where: the open groups unfolded into boxes and lines of one plane. */

import { type Box, isGroup } from "./boxes";
import { type Level, type Line, levelOf, type Point } from "./layout";
import { HEADER, type Size, sizeOf, TITLE, titleOf, width } from "./measure";

export interface Placed extends Point, Size {
  box: Box;
  isOpen: boolean;
}

/** What the size of a closed box depends on. */
export interface Texts {
  told: string;
  half: number;
}

export interface Scene extends Size {
  /** Groups ahead of what lies in them. */
  boxes: Placed[];
  lines: Line[];
  at: Map<Box, Placed>;
}

export function sceneOf(root: Box, isOpen: (of: Box) => boolean, texts: (of: Box) => Texts): Scene {
  const sizes = new Map<Box, Size>();
  const levels = new Map<Box, Level>();

  function measured(of: Box): Size {
    const known = sizes.get(of);
    if (known) return known;
    let size: Size;
    if (isGroup(of) && isOpen(of)) {
      const level = levelOf(of, measured);
      levels.set(of, level);
      const room = width(titleOf(of), TITLE) + width(of.type, TITLE) + 64;
      size = { width: Math.max(level.width, of.parent ? room : 0), height: level.height };
    } else {
      const { told, half } = texts(of);
      size = sizeOf(of, told, half);
    }
    sizes.set(of, size);
    return size;
  }

  const whole = measured(root);
  const scene: Scene = { ...whole, boxes: [], lines: [], at: new Map() };

  function place(of: Box, x: number, y: number): void {
    const level = levels.get(of);
    const placed = { box: of, x, y, ...measured(of), isOpen: level !== undefined };
    scene.at.set(of, placed);
    if (of.parent) scene.boxes.push(placed);
    if (!level) return;
    const shift = (placed.width - level.width) / 2;
    for (const line of level.lines)
      scene.lines.push({
        link: line.link,
        points: line.points.map((point) => ({ x: point.x + x + shift, y: point.y + y })),
      });
    for (const child of of.children) {
      const corner = level.corners.get(child)!;
      place(child, x + shift + corner.x, y + corner.y);
    }
  }

  place(root, 0, 0);
  for (const line of scene.lines) dock(line, scene);
  return scene;
}

/** Lets a line leave at the foot of its source and come in at the head of its target; open groups have one gate each. */
function dock({ link, points }: Line, scene: Scene): void {
  const [source, target] = [scene.at.get(link.source), scene.at.get(link.target)];
  const last = points.length - 1;
  if (source && link.source !== link.target.parent)
    points[0] = { x: gate(source, points[1]!.x), y: source.y + source.height };
  if (target && link.target !== link.source.parent)
    points[last] = { x: gate(target, points[last - 1]!.x), y: target.y };
}

function gate({ x, width: wide, isOpen }: Placed, wanted: number): number {
  return isOpen ? x + wide / 2 : Math.min(Math.max(wanted, x + 18), x + wide - 18);
}

/** The innermost box at a point; of an open group only its head counts, unless nothing else is there. */
export function boxAt(scene: Scene, point: Point): Placed | null {
  for (let place = scene.boxes.length - 1; place >= 0; place--) {
    const each = scene.boxes[place]!;
    if (point.x < each.x || point.x > each.x + each.width || point.y < each.y || point.y > each.y + each.height)
      continue;
    return each;
  }
  return null;
}

export function isHead(placed: Placed, point: Point): boolean {
  return !placed.isOpen || point.y <= placed.y + HEADER;
}
