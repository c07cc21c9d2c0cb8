/** The box that lies next in a direction. */

import type { Box } from "./boxes";
import type { Placed, Scene } from "./scene";

/** So much farther a box seems that lies aside. */
const ASIDE = 2.5;

export function nearest(scene: Scene, from: Box | null, right: number, down: number): Box | null {
  const start = from && scene.at.get(from);
  if (!start) return scene.boxes[0]?.box ?? null;
  let best: Placed | null = null;
  let least = Number.POSITIVE_INFINITY;
  const at = middle(start);
  for (const each of scene.boxes) {
    if (each === start || each.isOpen) continue;
    const to = middle(each);
    const along = (to.x - at.x) * right + (to.y - at.y) * down;
    const aside = Math.abs(right ? to.y - at.y : to.x - at.x);
    if (along <= 4 || aside * ASIDE + along >= least) continue;
    best = each;
    least = aside * ASIDE + along;
  }
  return best?.box ?? null;
}

function middle({ x, y, width, height, isOpen }: Placed): { x: number; y: number } {
  return { x: x + width / 2, y: isOpen ? y + 16 : y + height / 2 };
}
