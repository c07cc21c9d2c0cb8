/** A value as a heatmap, as numbers where they are few, and as a histogram. */

import { element, svg } from "./dom";
import { indexOf } from "./elements";
import { short } from "./numbers";
import { PALETTES, type ThemeName } from "./theme";
import type { Value } from "./values";

const MOST_CELLS = 48;
const ROOM = 288;

export function picture(value: Value, shape: number[], theme: ThemeName): HTMLElement {
  const isFew = value.isExact && value.columns <= 6 && value.rows * value.columns <= MOST_CELLS;
  return isFew ? table(value, shape, theme) : heatmap(value, shape, theme);
}

/** An element by its index, and what it is. */
function named(value: Value, shape: number[], row: number, column: number): string {
  const number = value.numbers[row * value.columns + column]!;
  const index = `[${indexOf(shape, value, row, column).join(", ")}]`;
  return `${index}  ${value.isExact ? "" : "≈ "}${short(number)}`;
}

function table(value: Value, shape: number[], theme: ThemeName): HTMLElement {
  const rows = Array.from({ length: value.rows }, (_, row) =>
    element(
      "tr",
      {},
      ...Array.from({ length: value.columns }, (_, column) => {
        const number = value.numbers[row * value.columns + column]!;
        const cell = element("td", { text: short(number), title: named(value, shape, row, column) });
        const [red, green, blue] = colour(number, value, theme);
        cell.style.background = `rgb(${red}, ${green}, ${blue})`;
        cell.style.color = red * 0.3 + green * 0.59 + blue * 0.11 > 140 ? "#1b2233" : "#ffffff";
        return cell;
      }),
    ),
  );
  return element("table", { class: "numbers" }, element("tbody", {}, ...rows));
}

function heatmap(value: Value, shape: number[], theme: ThemeName): HTMLElement {
  const canvas = element("canvas", { class: "heatmap", width: value.columns, height: value.rows });
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(value.columns, value.rows);
  value.numbers.forEach((number, place) => {
    image.data.set([...colour(number, value, theme), 255], place * 4);
  });
  pen.putImageData(image, 0, 0);
  const cell = Math.max(Math.min(ROOM / value.columns, ROOM / value.rows, 18), 2);
  canvas.style.width = `${Math.min(value.columns * cell, ROOM)}px`;
  canvas.style.height = `${Math.min(value.rows * cell, ROOM)}px`;
  const told = element("output", { class: "told" });
  canvas.addEventListener("pointermove", (event) => {
    const cellAt = (share: number, count: number) => Math.min(Math.max(Math.floor(share * count), 0), count - 1);
    const column = cellAt(event.offsetX / canvas.clientWidth, value.columns);
    const row = cellAt(event.offsetY / canvas.clientHeight, value.rows);
    told.textContent = named(value, shape, row, column);
  });
  return element("div", { class: "picture" }, canvas, told);
}

export function histogram(value: Value): SVGElement {
  const [wide, high] = [ROOM, 44];
  const step = wide / value.bins.length;
  const bars = value.bins.map((share, place) => {
    const height = share * high;
    return svg("rect", { x: place * step + 0.5, y: high - height, width: Math.max(step - 1, 1), height, rx: 1 });
  });
  return svg("svg", { class: "histogram", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high }, ...bars);
}

/** Blue below zero, orange above; as strong as the number is large. */
function colour(number: number, { low, high }: Value, theme: ThemeName): [number, number, number] {
  const palette = PALETTES[theme];
  if (!Number.isFinite(number)) return parts(palette.alarm);
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const share = Math.sqrt(Math.min(Math.abs(number) / most, 1));
  const ground = parts(palette.card);
  const ink = parts(number < 0 ? palette.forward : palette.backward);
  return [0, 1, 2].map((part) => Math.round(ground[part]! + (ink[part]! - ground[part]!) * share)) as [
    number,
    number,
    number,
  ];
}

function parts(text: string): [number, number, number] {
  const number = Number.parseInt(text.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}
