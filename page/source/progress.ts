/** How far a section has run at a moment: what of a box is done, and what is at hand. */

import type { Box } from "./boxes";
import type { Recording } from "./recording";

const LATER = 2 ** 31 - 1;

export interface Moment {
  /** The place of each node among those of the section; of others -1, or `LATER`. */
  order: Int32Array;
  /** The last place that has run. */
  now: number;
  count: number;
}

export interface Progress {
  /** Shares of the nodes that have run. */
  forward: number;
  backward: number;
  /** The half that is at hand. */
  here: "forward" | "backward" | null;
}

export function orderOf(recording: Recording, section: number): Int32Array {
  const order = Int32Array.from(recording.nodes.section, (each) => (each > section ? LATER : -1));
  (recording.nodesOf[section] ?? []).forEach((node, place) => {
    order[node] = place;
  });
  return order;
}

export function progressOf(of: Box, moment: Moment): Progress {
  if (moment.now >= moment.count) return { forward: 1, backward: 1, here: null };
  const forward = done(of.forward, moment);
  const backward = done(of.backward, moment);
  const here = isHere(of.forward, forward, moment)
    ? "forward"
    : isHere(of.backward, backward, moment)
      ? "backward"
      : null;
  return { forward: share(forward, of.forward), backward: share(backward, of.backward), here };
}

export function hasRun(node: number, moment: Moment): boolean {
  return moment.order[node]! <= moment.now;
}

/** Whether a gradient has come in this step: that of a step before is no longer told of. */
export function hasArrived(node: number, moment: Moment): boolean {
  return moment.order[node]! >= 0 && hasRun(node, moment);
}

/** Whether the first of some nodes has run. */
export function hasBegun(nodes: number[], moment: Moment): boolean {
  const first = nodes[0];
  return moment.now >= moment.count || (first !== undefined && hasRun(first, moment));
}

function done(nodes: number[], { order, now }: Moment): number {
  let [low, high] = [0, nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order[nodes[middle]!]! <= now) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isHere(nodes: number[], count: number, { order, now }: Moment): boolean {
  return count > 0 && order[nodes[count - 1]!] === now;
}

function share(count: number, of: number[]): number {
  return of.length ? count / of.length : 1;
}
