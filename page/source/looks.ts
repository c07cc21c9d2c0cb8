/** What of a box does not change while one looks at it: the text below its title, and what it is marked for. */

import { type Box, isGroup } from "./boxes";
import type { BoxLook } from "./draw_boxes";
import { counted, short } from "./numbers";
import { Flag, has, type Recording, Role, textOf } from "./recording";
import { valueOfNode } from "./values";

export type Lasting = Pick<BoxLook, "told" | "alarms" | "isLoss" | "isUpdate">;

export interface Looks {
  lasting(of: Box): Lasting;
}

export function looksOf(recording: Recording): Looks {
  const known = new WeakMap<Box, Lasting>();
  const roots = new Set(recording.sections.map((section) => section.root));
  const isAlarming = (node: number): boolean => has(recording, node, Flag.nonfinite);
  return {
    lasting(of) {
      let found = known.get(of);
      if (!found) {
        found = {
          told: isGroup(of) ? toldOfGroup(of) : toldOfNode(recording, of),
          alarms: { forward: of.forward.some(isAlarming), backward: of.backward.some(isAlarming) },
          isLoss: of.node >= 0 && roots.has(of.node),
          isUpdate: of.node >= 0 && recording.nodes.role?.[of.node] === Role.update,
        };
        known.set(of, found);
      }
      return found;
    },
  };
}

function toldOfGroup(of: Box): string {
  const inside = of.kind === "repeat" ? "" : counted(of.forward.length || of.backward.length, "node");
  return [of.type, inside].filter(Boolean).join("  ");
}

/** The name of a result with its shape, or its value where it is a single number. */
function toldOfNode(recording: Recording, of: Box): string {
  const single = singleValue(recording, of.node);
  return [of.type, single === null ? textOf(recording, "shape", of.node) : `= ${short(single)}`]
    .filter(Boolean)
    .join("  ");
}

/** The number that a node is; null where it is several, or not known. */
export function singleValue(recording: Recording, node: number): number | null {
  const { statistics } = recording;
  const place = recording.statisticsOf[node]!;
  if (place < 0 || statistics.count[place] !== 1) return null;
  if (statistics.nan[place]) return Number.NaN;
  return statistics.inf[place]
    ? (valueOfNode(recording, node)?.numbers[0] ?? Number.POSITIVE_INFINITY)
    : statistics.mean[place]!;
}
