/** A scene on a canvas, as far as it is seen. */

import { aim, type Camera } from "./camera";
import { type BoxLook, drawBox } from "./draw_boxes";
import { drawLines, type Strands } from "./draw_lines";
import type { Size } from "./measure";
import type { Placed, Scene } from "./scene";
import type { Palette } from "./theme";

export interface Painted {
  scene: Scene;
  strands: Strands;
  look(of: Placed): BoxLook;
  palette: Palette;
}

/** Paints what a camera sees through a window of some size, with so many dots for each of its points. */
export function paint(
  canvas: HTMLCanvasElement,
  { scene, strands, look, palette }: Painted,
  camera: Camera,
  { width, height }: Size,
  ratio: number,
): void {
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d", { alpha: false })!;
  const { scale } = camera;
  pen.resetTransform();
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, canvas.width, canvas.height); // on paper, what is drawn beside a canvas would be seen
  pen.clip();
  aim(pen, camera, ratio);
  const [right, bottom] = [camera.x + width / scale, camera.y + height / scale];
  const seen = scene.boxes.filter(
    (each) => each.x < right && each.y < bottom && each.x + each.width > camera.x && each.y + each.height > camera.y,
  );
  for (const each of seen) if (each.isOpen) drawBox(pen, each, look(each), palette, scale);
  drawLines(pen, strands, palette, scale);
  for (const each of seen) if (!each.isOpen) drawBox(pen, each, look(each), palette, scale);
  pen.restore();
}
