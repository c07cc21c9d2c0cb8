/** The picture on paper: as many sheets as it takes to be read, one below the other. */

import type { Area } from "./camera";
import { element } from "./dom";
import { type Painted, paint } from "./paint";
import type { Scene } from "./scene";

const MARGIN = 20;
const GAP = 6;
/** Of a sheet of paper, in points of the screen; the title stands on it, too. */
const WIDTH = 700;
const HEIGHT_TO_WIDTH = 1.2;
/** A longer picture is one sheet, which tells its outline. */
const MOST = 24;
const MOST_DOTS = 6000;

/** The parts of a picture that go on a sheet each; no box is cut in two where there is room between boxes. */
export function partsOf(scene: Scene): Area[] {
  const width = Math.max(scene.width + 2 * MARGIN, WIDTH);
  const [x, end, high] = [(scene.width - width) / 2, scene.height + MARGIN, width * HEIGHT_TO_WIDTH];
  if ((end + MARGIN) / high > MOST) {
    const wide = (end + MARGIN) / HEIGHT_TO_WIDTH;
    return [{ x: (scene.width - wide) / 2, y: -MARGIN, width: wide, height: end + MARGIN }];
  }
  const parts: Area[] = [];
  for (let y = -MARGIN; y < end; ) {
    const next = y + high + MARGIN < end ? gapAbove(scene, y + high, y + high / 2) : end;
    parts.push({ x, y, width, height: next - y });
    y = next;
  }
  return parts;
}

/** The lowest place above another where no box lies; that one itself where there is none down from `least`. */
function gapAbove({ boxes }: Scene, from: number, least: number): number {
  let y = from;
  while (y > least) {
    const crossed = boxes.filter((each) => !each.isOpen && each.y < y && each.y + each.height > y);
    if (!crossed.length) return y;
    y = Math.min(...crossed.map((each) => each.y)) - GAP;
  }
  return from;
}

export function sheetsOf(painted: Painted): HTMLCanvasElement[] {
  return partsOf(painted.scene).map(({ x, y, width, height }) => {
    const canvas = element("canvas", { class: "sheet" });
    const scale = Math.min(2, MOST_DOTS / Math.max(width, height));
    paint(canvas, painted, { x, y, scale: 1 }, { width, height }, scale);
    return canvas;
  });
}
