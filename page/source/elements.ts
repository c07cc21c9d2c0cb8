/** Which element of a tensor a cell of its picture is. */

import { type Recording, textOf } from "./recording";
import type { Value } from "./values";

/** The shape of what a node made, as numbers. */
export function shapeOf(recording: Recording, node: number): number[] {
  return textOf(recording, "shape", node).split("×").map(Number).filter(Number.isInteger);
}

/** The index of the element at a cell; of a large value only some were taken, spread evenly over it. */
export function indexOf(shape: number[], { rows, columns, isExact }: Value, row: number, column: number): number[] {
  const wide = shape[shape.length - 1] ?? 1;
  const high = shape.slice(0, -1).reduce((a, b) => a * b, 1);
  if (isExact) return unravelled(row * columns + column, shape);
  if (high === 1 || wide === 1) {
    const taken = Math.min(high * wide, columns * columns);
    return unravelled(spread(row * columns + column, high * wide, taken), shape);
  }
  return unravelled(spread(row, high, rows) * wide + spread(column, wide, columns), shape);
}

/** One of the places that are spread evenly over some. */
function spread(number: number, count: number, taken: number): number {
  return number === taken - 1 ? count - 1 : Math.floor(number * ((count - 1) / (taken - 1)));
}

function unravelled(place: number, shape: number[]): number[] {
  const found: number[] = [];
  let left = place;
  for (const length of [...shape].reverse()) {
    found.unshift(left % length);
    left = Math.floor(left / length);
  }
  return found;
}
