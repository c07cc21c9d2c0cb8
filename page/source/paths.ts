/** What lies on the ways from the leaves through a node to the loss. */

import type { Box } from "./boxes";
import { ownerOf } from "./owners";
import { type Ends, edgesOf, type Recording } from "./recording";
import type { Tree } from "./tree";

export function pathThrough(recording: Recording, tree: Tree, node: number, loss: number): Set<Box> {
  const owner = ownerOf(recording, node);
  const { source, target } = recording.edges;
  const ahead = reached(recording, owner, recording.inputs, source);
  const behind = reached(recording, owner, recording.users, target);
  const toLoss = loss < 0 ? behind : both(behind, reached(recording, loss, recording.inputs, source));
  const found = new Set<Box>();
  for (const each of [...ahead, ...toLoss])
    for (let box = tree.cards.of.get(each) ?? null; box; box = box.parent) found.add(box);
  return found;
}

function reached(recording: Recording, from: number, ends: Ends, others: number[]): Set<number> {
  const found = new Set([from]);
  for (const node of found)
    for (const edge of edgesOf(ends, node)) if (!recording.edges.gradient[edge]) found.add(others[edge]!);
  return found;
}

function both(one: Set<number>, other: Set<number>): Set<number> {
  return new Set([...one].filter((each) => other.has(each)));
}
