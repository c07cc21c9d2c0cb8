/** Boxes of a scene: cards with a forward and a backward half, and frames of open groups. */

import { type BoxKind, isGroup } from "./boxes";
import { CHIP, CODE, chipText, DETAIL, fitting, HALF, MOST_CHIPS, TITLE, titleOf, width } from "./measure";
import type { Progress } from "./progress";
import type { Placed } from "./scene";
import type { Palette } from "./theme";

/** How a box is to look. */
export interface BoxLook extends Progress {
  /** What stands below the title, and what does until it has run. */
  told: string;
  awaited: string;
  /** The gradient that has arrived, where it is a few numbers. */
  gradient: string;
  /** The width of the backward half. */
  half: number;
  isChosen: boolean;
  isHovered: boolean;
  isMatch: boolean;
  /** Something else is shown: a path, or what a search found. */
  isDimmed: boolean;
  /** A value, or a gradient, is not finite. */
  alarms: { forward: boolean; backward: boolean };
  isLoss: boolean;
  isUpdate: boolean;
}

const ROUND = 9;
const READABLE = 0.36;
const FAINT = 0.4;

export function drawBox(
  pen: CanvasRenderingContext2D,
  placed: Placed,
  look: BoxLook,
  palette: Palette,
  scale: number,
): void {
  pen.globalAlpha = look.isDimmed ? 0.25 : 1;
  if (placed.isOpen) drawFrame(pen, placed, look, palette, scale);
  else if (scale < READABLE) drawSmall(pen, placed, look, palette);
  else drawCard(pen, placed, look, palette);
  pen.globalAlpha = 1;
}

function drawFrame(
  pen: CanvasRenderingContext2D,
  placed: Placed,
  look: BoxLook,
  palette: Palette,
  scale: number,
): void {
  const { box, x, y } = placed;
  pen.fillStyle = box.depth % 2 ? palette.group : palette.ground;
  outline(pen, placed, ROUND + 3);
  pen.fill();
  pen.strokeStyle = look.isChosen ? palette.forward : look.isHovered ? palette.muted : palette.line;
  pen.lineWidth = look.isChosen ? 2 : 1;
  pen.stroke();
  if (scale < READABLE * 0.7) return;
  const title = titleOf(box);
  chevron(pen, x + 16, y + 17, true, palette.muted);
  write(pen, title, x + 28, y + 21.5, TITLE, palette.text);
  write(pen, title.startsWith(box.type) ? "" : box.type, x + 38 + width(title, TITLE), y + 21.5, DETAIL, palette.muted);
}

function drawCard(pen: CanvasRenderingContext2D, placed: Placed, look: BoxLook, palette: Palette): void {
  const { box, x, y, width: wide } = placed;
  const alpha = pen.globalAlpha;
  if (box.count > 1)
    for (const shift of [8, 4]) {
      pen.fillStyle = palette.card;
      pen.strokeStyle = palette.line;
      outline(pen, { ...placed, x: x + shift, y: y + shift }, ROUND);
      pen.fill();
      pen.stroke();
    }
  else {
    pen.fillStyle = palette.shadow;
    outline(pen, { ...placed, y: y + 2 }, ROUND);
    pen.fill();
  }
  pen.fillStyle = palette.card;
  outline(pen, placed, ROUND);
  pen.fill();
  const accent = colourOf(box.kind, look, palette);
  const { half } = look;
  if (half) drawBackwardHalf(pen, placed, look, palette, alpha);
  drawForwardHalf(pen, placed, look, palette, wide - half, accent, alpha);
  pen.strokeStyle = look.alarms.forward
    ? palette.alarm
    : look.isChosen
      ? palette.forward
      : look.isHovered
        ? palette.muted
        : palette.line;
  pen.lineWidth = look.isChosen || look.alarms.forward ? 2 : 1;
  outline(pen, placed, ROUND);
  pen.stroke();
  if (look.isChosen || look.isMatch || look.here) halo(pen, placed, look, palette);
  pen.globalAlpha = alpha * (look.forward > 0 ? 1 : FAINT);
  drawText(pen, placed, look, palette, wide - half);
  pen.globalAlpha = alpha;
  if (isGroup(box)) drawProgress(pen, placed, look, palette);
}

function drawForwardHalf(
  pen: CanvasRenderingContext2D,
  placed: Placed,
  look: BoxLook,
  palette: Palette,
  wide: number,
  accent: string,
  alpha: number,
): void {
  pen.save();
  outline(pen, placed, ROUND);
  pen.clip();
  if (look.here === "forward") {
    pen.fillStyle = palette.forwardTint;
    pen.fillRect(placed.x, placed.y, wide, placed.height);
  }
  pen.globalAlpha = alpha * (look.forward > 0 ? 1 : FAINT);
  pen.fillStyle = accent;
  pen.fillRect(placed.x, placed.y, 4, placed.height);
  pen.restore();
}

function drawBackwardHalf(
  pen: CanvasRenderingContext2D,
  placed: Placed,
  look: BoxLook,
  palette: Palette,
  alpha: number,
): void {
  const left = placed.x + placed.width - look.half;
  pen.save();
  outline(pen, placed, ROUND);
  pen.clip();
  pen.globalAlpha = alpha * (look.backward > 0 ? 1 : FAINT);
  const [ink, tint] = backwardColours(look, palette);
  pen.fillStyle = look.here === "backward" ? ink : tint;
  pen.fillRect(left, placed.y, look.half, placed.height);
  pen.textAlign = "center";
  const colour = look.here === "backward" ? palette.card : ink;
  const [middle, foot] = [left + look.half / 2, placed.y + placed.height / 2 + 5];
  write(pen, "∂", middle, look.gradient ? placed.y + 20 : foot, TITLE, colour);
  if (look.gradient) write(pen, look.gradient, middle, placed.y + 36, DETAIL, colour);
  pen.textAlign = "left";
  pen.restore();
}

function backwardColours(look: BoxLook, palette: Palette): [string, string] {
  return look.alarms.backward ? [palette.alarm, palette.alarmTint] : [palette.backward, palette.backwardTint];
}

/** A card that is too small to be read: its colours alone. */
function drawSmall(pen: CanvasRenderingContext2D, placed: Placed, look: BoxLook, palette: Palette): void {
  const { box, x, y, width: wide, height: high } = placed;
  const alpha = pen.globalAlpha;
  pen.fillStyle = palette.card;
  pen.fillRect(x, y, wide, high);
  pen.globalAlpha = alpha * (look.forward > 0 ? 1 : FAINT);
  pen.fillStyle = colourOf(box.kind, look, palette);
  pen.fillRect(x, y, look.here === "forward" ? wide : 6, high);
  if (box.backward.length) {
    const [ink, tint] = backwardColours(look, palette);
    pen.globalAlpha = alpha * (look.backward > 0 ? 1 : FAINT);
    pen.fillStyle = look.here === "backward" ? ink : tint;
    pen.fillRect(x + wide - HALF, y, HALF, high);
  }
  pen.globalAlpha = alpha;
  if (look.isChosen || look.isMatch || look.here) halo(pen, placed, look, palette);
}

function drawText(pen: CanvasRenderingContext2D, placed: Placed, look: BoxLook, palette: Palette, wide: number): void {
  const { box, x, y } = placed;
  const room = wide - 24 - (isGroup(box) ? 18 : 0);
  const left = x + 14;
  write(
    pen,
    fitting(titleOf(box), TITLE, room),
    left,
    y + 20,
    TITLE,
    look.alarms.forward ? palette.alarm : palette.text,
  );
  if (isGroup(box)) chevron(pen, x + wide - 14, y + 16, false, palette.muted);
  const told = look.forward > 0 ? look.told : look.awaited;
  if (told) write(pen, fitting(told, DETAIL, wide - 22), left, y + 36, DETAIL, palette.muted);
  let top = y + (look.told ? 44 : 30);
  for (const chip of box.chips.slice(0, MOST_CHIPS)) {
    const text = fitting(chipText(chip.name, chip.shape), CODE, wide - 28);
    pen.fillStyle = palette.leafTint;
    pen.beginPath();
    pen.roundRect(left - 3, top, width(text, CODE) + 10, CHIP - 3, 4);
    pen.fill();
    write(pen, text, left + 2, top + 11, CODE, palette.leaf);
    top += CHIP;
  }
  const more = box.chips.length - MOST_CHIPS;
  if (more > 0) write(pen, `+${more} more`, left + 2, top + 10, CODE, palette.muted);
}

/** Thin bars at the foot of a closed group: how much of either pass has run. */
function drawProgress(pen: CanvasRenderingContext2D, placed: Placed, look: BoxLook, palette: Palette): void {
  if (look.forward >= 1 && look.backward >= 1) return;
  const room = placed.width - 2 * ROUND;
  const foot = placed.y + placed.height - 3;
  const done = {
    forward: placed.box.forward.length ? look.forward : 0,
    backward: placed.box.backward.length ? look.backward : 0,
  };
  pen.fillStyle = palette.forward;
  pen.fillRect(placed.x + ROUND, foot, room * done.forward, 2);
  pen.fillStyle = palette.backward;
  pen.fillRect(placed.x + ROUND + room * (1 - done.backward), foot, room * done.backward, 2);
}

function halo(pen: CanvasRenderingContext2D, placed: Placed, look: BoxLook, palette: Palette): void {
  pen.strokeStyle =
    look.here === "backward"
      ? palette.backward
      : look.here
        ? palette.forward
        : look.isMatch && !look.isChosen
          ? palette.update
          : palette.forward;
  pen.lineWidth = 3;
  const before = pen.globalAlpha;
  pen.globalAlpha = before * (look.here ? 0.9 : 0.4);
  outline(
    pen,
    { ...placed, x: placed.x - 2, y: placed.y - 2, width: placed.width + 4, height: placed.height + 4 },
    ROUND + 2,
  );
  pen.stroke();
  pen.globalAlpha = before;
}

function colourOf(kind: BoxKind, look: BoxLook, palette: Palette): string {
  if (look.alarms.forward) return palette.alarm;
  if (look.isLoss || look.isUpdate) return palette.update;
  return kind === "leaf" ? palette.leaf : kind === "op" ? palette.forward : palette.muted;
}

function outline(
  pen: CanvasRenderingContext2D,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  round: number,
): void {
  pen.beginPath();
  pen.roundRect(x, y, width, height, round);
}

function chevron(pen: CanvasRenderingContext2D, x: number, y: number, isOpen: boolean, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  const points = isOpen
    ? [
        [-4, -2],
        [0, 2],
        [4, -2],
      ]
    : [
        [-2, -4],
        [2, 0],
        [-2, 4],
      ];
  points.forEach(([right, down], place) => {
    if (place) pen.lineTo(x + right!, y + down!);
    else pen.moveTo(x + right!, y + down!);
  });
  pen.stroke();
}

function write(pen: CanvasRenderingContext2D, text: string, x: number, y: number, font: string, colour: string): void {
  pen.font = font;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}
