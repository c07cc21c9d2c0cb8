/** The whole picture in small, with a frame around what is seen. */

import { aim, type Camera, fitted } from "./camera";
import { element } from "./dom";
import type { Size } from "./measure";
import type { Scene } from "./scene";
import type { Palette } from "./theme";

const SIZE: Size = { width: 184, height: 132 };

export interface Minimap {
  canvas: HTMLCanvasElement;
  draw(scene: Scene, camera: Camera, window: Size, palette: Palette): void;
}

export function minimap(go: (x: number, y: number) => void): Minimap {
  const canvas = element("canvas", { class: "minimap", title: "The whole picture: drag to go elsewhere" });
  const ratio = devicePixelRatio || 1;
  const still = element("canvas");
  for (const each of [canvas, still]) [each.width, each.height] = [SIZE.width * ratio, SIZE.height * ratio];
  const [pen, stillPen] = [canvas.getContext("2d")!, still.getContext("2d")!];
  let shown: Camera = { x: 0, y: 0, scale: 1 };
  let drawn: { scene: Scene; palette: Palette } | null = null;

  function point(event: PointerEvent): void {
    const scale = (shown.scale * canvas.clientWidth) / SIZE.width;
    if (event.buttons) go(shown.x + event.offsetX / scale, shown.y + event.offsetY / scale);
  }
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    point(event);
  });
  canvas.addEventListener("pointermove", point);

  /** Draws the boxes anew only where they are other ones: the frame moves with every movement. */
  function drawBoxes(scene: Scene, palette: Palette): void {
    if (drawn?.scene === scene && drawn.palette === palette) return;
    stillPen.resetTransform();
    stillPen.clearRect(0, 0, still.width, still.height);
    aim(stillPen, shown, ratio);
    for (const each of scene.boxes) {
      stillPen.fillStyle = each.isOpen ? palette.group : each.box.backward.length ? palette.edge : palette.line;
      stillPen.fillRect(each.x, each.y, each.width, each.height);
    }
    drawn = { scene, palette };
  }

  return {
    canvas,
    draw(scene, camera, window, palette) {
      shown = fitted({ x: 0, y: 0, width: scene.width, height: scene.height }, SIZE);
      drawBoxes(scene, palette);
      pen.resetTransform();
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(still, 0, 0);
      aim(pen, shown, ratio);
      pen.strokeStyle = palette.forward;
      pen.lineWidth = 1.5 / shown.scale;
      pen.strokeRect(camera.x, camera.y, window.width / camera.scale, window.height / camera.scale);
    },
  };
}
