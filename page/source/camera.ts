/** Which part of the plane is seen: one shift and one scale. */

import type { Point } from "./layout";
import type { Size } from "./measure";

export interface Camera {
  /** The point of the plane at the corner of the window. */
  x: number;
  y: number;
  scale: number;
}

const CLOSEST = 2.5;
const FARTHEST = 0.02;

export function toPlane(camera: Camera, at: Point): Point {
  return { x: camera.x + at.x / camera.scale, y: camera.y + at.y / camera.scale };
}

export function toWindow(camera: Camera, at: Point): Point {
  return { x: (at.x - camera.x) * camera.scale, y: (at.y - camera.y) * camera.scale };
}

/** Lets a pen draw on the plane. */
export function aim(pen: CanvasRenderingContext2D, { x, y, scale }: Camera, ratio: number): void {
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
}

/** The same, closer or farther, while what lies at a point of the window stays there. */
export function zoomed(camera: Camera, by: number, at: Point): Camera {
  const scale = Math.min(Math.max(camera.scale * by, FARTHEST), CLOSEST);
  const fixed = toPlane(camera, at);
  return { x: fixed.x - at.x / scale, y: fixed.y - at.y / scale, scale };
}

export interface Area extends Point, Size {}

/** Shows an area whole, in the middle of the window; no larger than it is. */
export function fitted(area: Area, window: Size, most = 1): Camera {
  const margin = 28;
  const scale = Math.max(
    Math.min((window.width - 2 * margin) / area.width, (window.height - 2 * margin) / area.height, most),
    FARTHEST,
  );
  return {
    x: area.x + area.width / 2 - window.width / 2 / scale,
    y: area.y + area.height / 2 - window.height / 2 / scale,
    scale,
  };
}

/** Shows an area from its top, as wide as the window: how a long picture is read first. */
export function fromTop(area: Area, window: Size): Camera {
  const whole = fitted(area, window);
  const readable = 0.62;
  if (whole.scale >= readable) return whole;
  const scale = Math.min(Math.max((window.width - 56) / area.width, readable), 1);
  return { x: area.x + area.width / 2 - window.width / 2 / scale, y: area.y - 16 / scale, scale };
}

/** Moves no farther than it takes to see an area. */
export function revealing(camera: Camera, area: Area, window: Size): Camera {
  const margin = Math.min(60, window.width / 6) / camera.scale;
  const [width, height] = [window.width / camera.scale, window.height / camera.scale];
  return {
    x: within(camera.x, area.x + area.width + margin - width, area.x - margin),
    y: within(camera.y, area.y + area.height + margin - height, area.y - margin),
    scale: camera.scale,
  };
}

function within(value: number, low: number, high: number): number {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}

export function between(from: Camera, to: Camera, share: number): Camera {
  const mixed = (a: number, b: number) => a + (b - a) * share;
  return { x: mixed(from.x, to.x), y: mixed(from.y, to.y), scale: mixed(from.scale, to.scale) };
}
