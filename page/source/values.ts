/** Values that came along: of small ones every number, of large ones a picture in levels and a histogram. */

import type { Recording, SampleColumns } from "./recording";

export interface Value {
  rows: number;
  columns: number;
  isExact: boolean;
  /** Of a value that is told exactly its numbers, else what its levels stand for. */
  numbers: Float32Array;
  /** Shares of the fullest, from the least to the greatest. */
  bins: number[];
  low: number;
  high: number;
}

const LEVELS = 250;
const BELOW = 253;
const ABOVE = 254;
const NOT_A_NUMBER = 255;

const decoded = new WeakMap<SampleColumns, Uint8Array>();

export function valueOfNode(recording: Recording, node: number): Value | null {
  return told(recording.samples, recording.samplesOf[node]!);
}

/** What a gradient was behind a node that added to it; null where there was nothing to add to. */
export function sumBehind(recording: Recording, node: number): Value | null {
  return told(recording.sums, recording.sumsOf[node]!);
}

function told(samples: SampleColumns, place: number): Value | null {
  if (place < 0) return null;
  const bytes = bytesOf(samples);
  const [rows, columns, start] = [samples.rows[place]!, samples.columns[place]!, samples.place[place]!];
  const size = rows * columns;
  if (samples.exact[place]) {
    const numbers = new Float32Array(bytes.slice(start, start + 4 * size).buffer);
    const finite = numbers.filter(Number.isFinite);
    const [low, high] = [
      finite.reduce((a, b) => Math.min(a, b), Infinity),
      finite.reduce((a, b) => Math.max(a, b), -Infinity),
    ];
    return { rows, columns, isExact: true, numbers, bins: counted(finite, low, high, samples.bins), low, high };
  }
  const [low, high] = [samples.low[place]!, samples.high[place]!];
  const numbers = Float32Array.from(bytes.subarray(start, start + size), (level) => meant(level, low, high));
  const bins = Array.from(bytes.subarray(start + size, start + size + samples.bins), (level) => level / 255);
  return { rows, columns, isExact: false, numbers, bins, low, high };
}

function meant(level: number, low: number, high: number): number {
  if (level === NOT_A_NUMBER) return Number.NaN;
  if (level === ABOVE) return Number.POSITIVE_INFINITY;
  if (level === BELOW) return Number.NEGATIVE_INFINITY;
  return low + ((high - low) * level) / LEVELS;
}

function counted(numbers: Float32Array, low: number, high: number, bins: number): number[] {
  const found = new Array<number>(bins).fill(0);
  if (!numbers.length) return found;
  const size = (high > low ? high - low : 1) / bins;
  for (const number of numbers) found[Math.min(Math.floor((number - low) / size), bins - 1)]!++;
  const most = Math.max(...found);
  return found.map((count) => count / most);
}

function bytesOf(samples: SampleColumns): Uint8Array {
  let bytes = decoded.get(samples);
  if (!bytes) {
    bytes = Uint8Array.from(atob(samples.data), (letter) => letter.charCodeAt(0));
    decoded.set(samples, bytes);
  }
  return bytes;
}
