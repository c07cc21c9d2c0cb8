/** Parts of a picture that nothing joins, beside and below each other: no wider than it is pleasant to look at. */

import type { Point } from "./layout";
import type { Size } from "./measure";

const ASPECT = 1.5;

export interface Packed extends Size {
  places: Point[];
}

/** Rows of parts, each row as wide as the whole should be. */
export function packed(parts: Size[], space: number): Packed {
  const room = parts.reduce((sum, part) => sum + (part.width + space) * (part.height + space), 0);
  const most = Math.max(Math.sqrt(room * ASPECT), ...parts.map((part) => part.width));
  const places: Point[] = [];
  let [x, y, high, wide] = [0, 0, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > most) [x, y, high] = [0, y + high + space, 0];
    places.push({ x, y });
    x += part.width + space;
    wide = Math.max(wide, x - space);
    high = Math.max(high, part.height);
  }
  return { places, width: wide, height: y + high };
}
