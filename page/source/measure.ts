/** How large boxes are: text fits its box whichever font is there, because it is measured. */

import { type Box, isGroup } from "./boxes";
import { FONT, MONO } from "./theme";

export const TITLE = `600 13px ${FONT}`;
export const DETAIL = `11px ${FONT}`;
export const CODE = `10.5px ${MONO}`;
export const HEADER = 34;
export const CHIP = 18;
export const HALF = 26;
export const MOST_CHIPS = 3;

const LEAST = 92;
const WIDEST = 250;
const PADDING = 14;

const pen = document.createElement("canvas").getContext("2d")!;
const widths = new Map<string, number>();

export function width(text: string, font: string): number {
  const key = `${font}${text}`;
  let found = widths.get(key);
  if (found === undefined) {
    pen.font = font;
    found = pen.measureText(text).width;
    widths.set(key, found);
  }
  return found;
}

/** The text, or as much of it as there is room for. */
export function fitting(text: string, font: string, room: number): string {
  if (width(text, font) <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (width(`${text.slice(0, middle)}…`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

export function titleOf(of: Box): string {
  const name = /^\d/.test(of.title) && of.type ? `${of.type} ${of.title}` : of.title;
  return of.count > 1 ? `${name}  ×${of.count}` : name;
}

export interface Size {
  width: number;
  height: number;
}

/** A parameter without the module that it is of, which is written above it. */
export function chipText(name: string, shape: string): string {
  return `${name.slice(name.lastIndexOf(".") + 1)} ${shape}`;
}

/**
 * @param told What stands below its title.
 * @param half The width of its backward half.
 */
export function sizeOf(of: Box, told: string, half: number): Size {
  const chips = of.chips.length ? Math.min(of.chips.length, MOST_CHIPS) + (of.chips.length > MOST_CHIPS ? 1 : 0) : 0;
  const texts = [
    width(titleOf(of), TITLE) + (isGroup(of) ? 20 : 0),
    width(told, DETAIL),
    ...of.chips.slice(0, MOST_CHIPS).map((chip) => width(chipText(chip.name, chip.shape), CODE) + 10),
  ];
  const room = Math.min(Math.max(...texts) + 2 * PADDING, WIDEST);
  return {
    width: Math.round(Math.max(room + half, LEAST)),
    height: (told ? 46 : 32) + (chips ? chips * CHIP + 4 : 0),
  };
}
