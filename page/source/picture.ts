/** The picture: a scene on a canvas, moved by the mouse; what it looks like is asked for box by box. */

import type { Box } from "./boxes";
import { type Area, between, type Camera, fitted, fromTop, revealing, toPlane, toWindow, zoomed } from "./camera";
import { element } from "./dom";
import type { BoxLook } from "./draw_boxes";
import { type LineLook, type Strands, strandsOf } from "./draw_lines";
import type { Line, Point } from "./layout";
import type { Size } from "./measure";
import { minimap } from "./minimap";
import { motion } from "./motion";
import { type Painted, paint } from "./paint";
import { boxAt, isHead, type Placed, type Scene } from "./scene";
import type { Setting } from "./setting";
import { sheetsOf } from "./sheets";
import { PALETTES, type ThemeName } from "./theme";

export interface Looks {
  box(of: Box): Omit<BoxLook, "isHovered">;
  line(line: Line): LineLook;
  theme(): ThemeName;
}

export interface Picture {
  frame: HTMLElement;
  show(scene: Scene, anchor: Box | null): void;
  /** Draws anew what looks another way now. */
  refresh(): void;
  fit(): void;
  top(): void;
  zoom(by: number): void;
  reveal(of: Box): void;
  scene(): Scene;
  windowOf(of: Box): (Point & Size) | null;
}

const CLICK = 4;

export function picture(
  looks: Looks,
  chosen: (of: Box | null, placed: Placed | null, at: Point) => void,
  toggled: (of: Box) => void,
  setting: Setting,
): Picture {
  const canvas = element("canvas", {
    class: "canvas",
    tabindex: 0,
    role: "application",
    "aria-label": "The computation graph",
  });
  const small = minimap((x, y) => {
    const { width, height } = size();
    camera = { ...camera, x: x - width / 2 / camera.scale, y: y - height / 2 / camera.scale };
    ask();
  });
  const sheets = element("div", { class: "sheets" });
  const frame = element("div", { class: "stage" }, canvas, small.canvas, sheets);
  let scene: Scene = { width: 0, height: 0, boxes: [], lines: [], at: new Map() };
  let camera: Camera = { x: 0, y: 0, scale: 1 };
  /** Where the picture was read first from: who has not moved since sees it so in a window of another width, too. */
  let atTop: Camera | null = null;
  let strands: Strands | null = null;
  let hovered: Box | null = null;
  let isAsked = false;
  const moving = motion();

  const size = (): Size => ({ width: canvas.clientWidth, height: canvas.clientHeight });

  function ask(): void {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  }

  function painted(theme: ThemeName): Painted {
    strands ??= strandsOf(scene, looks.line);
    const look = ({ box }: Placed): BoxLook => ({ ...looks.box(box), isHovered: box === hovered });
    return { scene, strands, look, palette: PALETTES[theme] };
  }

  function draw(): void {
    const now = painted(looks.theme());
    paint(canvas, now, camera, size(), devicePixelRatio || 1);
    small.draw(scene, camera, size(), now.palette);
  }

  function moveTo(to: Camera): void {
    const from = camera;
    moving.run((share) => {
      camera = between(from, to, share);
      ask();
    });
  }

  let pressed: { at: Point; camera: Camera; isMoved: boolean } | null = null;
  const at = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY });

  canvas.addEventListener("pointerdown", (event) => {
    moving.stop();
    pressed = { at: at(event), camera, isMoved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (pressed) {
      const [right, down] = [here.x - pressed.at.x, here.y - pressed.at.y];
      pressed.isMoved ||= Math.hypot(right, down) > CLICK;
      if (!pressed.isMoved) return;
      canvas.classList.add("moved");
      const { x, y, scale } = pressed.camera;
      camera = { x: x - right / scale, y: y - down / scale, scale };
      return ask();
    }
    const found = boxAt(scene, toPlane(camera, here));
    const now = found && isHead(found, toPlane(camera, here)) ? found.box : null;
    canvas.classList.toggle("over", now !== null);
    if (now === hovered) return;
    hovered = now;
    ask();
  });
  canvas.addEventListener("pointerup", (event) => {
    canvas.classList.remove("moved");
    const isClick = pressed !== null && !pressed.isMoved;
    pressed = null;
    if (!isClick) return;
    const point = toPlane(camera, at(event));
    const found = boxAt(scene, point);
    chosen(found && isHead(found, point) ? found.box : null, found, point);
  });
  canvas.addEventListener("dblclick", (event) => {
    const found = boxAt(scene, toPlane(camera, at(event)));
    if (found) toggled(found.box);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!setting.takesWheel(event)) return;
      event.preventDefault();
      moving.stop();
      const unit = event.deltaMode ? 30 : 1;
      if (event.shiftKey) camera = { ...camera, x: camera.x + (event.deltaX + event.deltaY) / camera.scale };
      else camera = zoomed(camera, Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), at(event));
      ask();
    },
    { passive: false },
  );
  let wide = 0;
  const resized = (): void => {
    const { width } = size();
    if (width !== wide && camera === atTop) camera = atTop = fromTop(area(), size());
    wide = width;
    draw();
  };
  new ResizeObserver(resized).observe(canvas);
  addEventListener("beforeprint", () => sheets.replaceChildren(...sheetsOf(painted("light"))), {
    signal: setting.signal,
  });
  addEventListener("afterprint", () => sheets.replaceChildren(), { signal: setting.signal });

  const area = (): Area => ({ x: 0, y: 0, width: scene.width, height: scene.height });

  return {
    frame,
    show(next, anchor) {
      const [before, after] = [anchor && scene.at.get(anchor), anchor && next.at.get(anchor)];
      if (before && after) {
        const from = toWindow(camera, before);
        camera = { ...camera, x: after.x - from.x / camera.scale, y: after.y - from.y / camera.scale };
      }
      scene = next;
      strands = null;
      hovered = null;
      ask();
    },
    refresh() {
      strands = null;
      ask();
    },
    fit: () => moveTo(fitted(area(), size())),
    top() {
      camera = atTop = fromTop(area(), size());
      ask();
    },
    zoom: (by) => moveTo(zoomed(camera, by, { x: size().width / 2, y: size().height / 2 })),
    reveal(of) {
      const placed = scene.at.get(of);
      if (placed) moveTo(revealing(camera, placed, size()));
    },
    scene: () => scene,
    windowOf(of) {
      const placed = scene.at.get(of);
      if (!placed) return null;
      const corner = toWindow(camera, placed);
      return { ...corner, width: placed.width * camera.scale, height: placed.height * camera.scale };
    },
  };
}
