/** The whole picture in small, with a frame around what is seen. */

import { type Camera, fitted } from "./camera";
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
  canvas.width = SIZE.width * ratio;
  canvas.height = SIZE.height * ratio;
  const pen = canvas.getContext("2d")!;
  let shown: Camera = { x: 0, y: 0, scale: 1 };
  let still: { scene: Scene; palette: Palette; image: ImageData } | null = null;

  function point(event: PointerEvent): void {
    if (event.buttons) go(shown.x + event.offsetX / shown.scale, shown.y + event.offsetY / shown.scale);
  }
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    point(event);
  });
  canvas.addEventListener("pointermove", point);

  return {
    canvas,
    draw(scene, camera, window, palette) {
      shown = fitted({ x: 0, y: 0, width: scene.width, height: scene.height }, SIZE);
      if (still?.scene !== scene || still.palette !== palette) {
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.clearRect(0, 0, SIZE.width, SIZE.height);
        pen.setTransform(
          ratio * shown.scale,
          0,
          0,
          ratio * shown.scale,
          -shown.x * shown.scale * ratio,
          -shown.y * shown.scale * ratio,
        );
        for (const each of scene.boxes) {
          pen.fillStyle = each.isOpen ? palette.group : each.box.backward.length ? palette.edge : palette.line;
          pen.fillRect(each.x, each.y, each.width, each.height);
        }
        still = { scene, palette, image: pen.getImageData(0, 0, canvas.width, canvas.height) };
      } else pen.putImageData(still.image, 0, 0);
      pen.setTransform(
        ratio * shown.scale,
        0,
        0,
        ratio * shown.scale,
        -shown.x * shown.scale * ratio,
        -shown.y * shown.scale * ratio,
      );
      pen.strokeStyle = palette.forward;
      pen.lineWidth = 1.5 / shown.scale;
      pen.strokeRect(camera.x, camera.y, window.width / camera.scale, window.height / camera.scale);
    },
  };
}
