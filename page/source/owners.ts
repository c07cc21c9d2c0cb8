/** Which forward node a node belongs to: backward nodes are drawn as the other half of the card of theirs. */

import { edgesOf, Kind, type Recording } from "./recording";

/** The forward node that a node of a backward pass is of; itself where it is of none. */
export function ownerOf(recording: Recording, node: number): number {
  const { forward } = recording.nodes;
  let found = node;
  for (let times = 0; times < 32 && forward[found]! >= 0; times++) found = forward[found]!;
  return found;
}

/** The node that a nameless one of a backward pass hangs on, as the 1 that a pass begins with on the rule of the loss. */
export function neighbourOf(recording: Recording, node: number): number {
  const user = edgesOf(recording.users, node)[0];
  if (user !== undefined) return recording.edges.target[user]!;
  const input = edgesOf(recording.inputs, node)[0];
  return input === undefined ? -1 : recording.edges.source[input]!;
}

/** The leaf whose newest version a node is; itself where it is none. */
export function originOf(recording: Recording, node: number): number {
  const tensor = recording.nodes.tensor?.[node] ?? -1;
  return tensor >= 0 && recording.nodes.kind[tensor] === Kind.leaf ? tensor : node;
}
