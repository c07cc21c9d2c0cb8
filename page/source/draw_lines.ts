/** Lines of a scene: data runs down, gradients run up beside it. */

import type { Line, Point } from "./layout";
import type { Scene } from "./scene";
import type { Palette } from "./theme";

/** A line that is drawn as others are: which of them have come, which lie on what is shown. */
export interface LineLook {
  forward: boolean;
  backward: boolean;
  isShown: boolean;
}

interface Strand {
  strokes: Path2D;
  heads: Path2D;
}

export type Strands = Map<string, Strand>;

const APART = 3.5;
const HEAD = 5.5;

/** The lines, gathered by how they look, so that each look is one stroke of the pen. */
export function strandsOf(scene: Scene, lookOf: (line: Line) => LineLook): Strands {
  const strands: Strands = new Map();
  for (const line of scene.lines) {
    const look = lookOf(line);
    const { data, gradients } = line.link;
    const apart = data && gradients ? APART : 0;
    const shown = look.isShown ? "" : " hidden";
    if (data) trace(strands, `forward ${look.forward ? "" : "faint"}${shown}`, line.points, -apart, false);
    if (gradients) trace(strands, `backward ${look.backward ? "" : "faint"}${shown}`, line.points, apart, true);
  }
  return strands;
}

function trace(strands: Strands, look: string, points: Point[], shift: number, isUp: boolean): void {
  let strand = strands.get(look);
  if (!strand) {
    strand = { strokes: new Path2D(), heads: new Path2D() };
    strands.set(look, strand);
  }
  const [first, last] = [points[0]!, points[points.length - 1]!];
  const path = strand.strokes;
  path.moveTo(first.x + shift, first.y);
  for (let place = 1; place < points.length - 1; place++) {
    const [at, next] = [points[place]!, points[place + 1]!];
    const isLast = place === points.length - 2;
    path.quadraticCurveTo(
      at.x + shift,
      at.y,
      (isLast ? next.x : (at.x + next.x) / 2) + shift,
      isLast ? next.y : (at.y + next.y) / 2,
    );
  }
  if (points.length === 2) path.lineTo(last.x + shift, last.y);
  const [tip, before] = isUp ? [first, points[1]!] : [last, points[points.length - 2]!];
  head(strand.heads, tip, before, shift);
}

function head(path: Path2D, tip: Point, before: Point, shift: number): void {
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [x, y] = [((tip.x - before.x) / length) * HEAD, ((tip.y - before.y) / length) * HEAD];
  path.moveTo(tip.x + shift, tip.y);
  path.lineTo(tip.x + shift - x - y * 0.55, tip.y - y + x * 0.55);
  path.lineTo(tip.x + shift - x + y * 0.55, tip.y - y - x * 0.55);
  path.closePath();
}

export function drawLines(pen: CanvasRenderingContext2D, strands: Strands, palette: Palette, scale: number): void {
  for (const [look, { strokes, heads }] of strands) {
    const isBackward = look.startsWith("backward");
    pen.globalAlpha = look.includes("hidden") ? 0.12 : look.includes("faint") ? 0.28 : 1;
    pen.strokeStyle = pen.fillStyle = isBackward ? palette.backward : palette.edge;
    if (isBackward && !look.includes("faint") && !look.includes("hidden")) pen.globalAlpha = 0.75;
    pen.lineWidth = Math.max(1.3, 0.7 / scale);
    pen.stroke(strokes);
    if (scale > 0.3) pen.fill(heads);
  }
  pen.globalAlpha = 1;
}
