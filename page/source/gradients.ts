/** Where the gradient of a node is told: at the rule that it arrives at, or at what is added to that of a leaf. */

import type { Box } from "./boxes";
import { Kind, type Recording } from "./recording";

/** The nodes whose values are the gradient of a node, as it grows: the newest that has run is it. */
export function gradientNodes(recording: Recording, of: Box, node: number): number[] {
  const { kind, backward } = recording.nodes;
  if (backward[node]) return [node];
  const own = recording.backwardOf.get(node) ?? [];
  const rules = own.filter((each) => kind[each] === Kind.grad);
  if (rules.length) return rules;
  const added = own.filter((each) => kind[each] === Kind.accumulate);
  if (added.length || of.node !== node) return added;
  return of.backward.filter((each) => kind[each] === Kind.grad);
}
