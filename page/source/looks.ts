/** What of a box does not change while one looks at it: the text below its title, and what it is marked for. */

import { type Box, isGroup } from "./boxes";
import type { BoxLook } from "./draw_boxes";
import { gradientNodes } from "./gradients";
import { DETAIL, HALF, width } from "./measure";
import { counted, short } from "./numbers";
import { Flag, has, type Recording, Role, textOf } from "./recording";
import { sumBehind, type Value, valueOfNode } from "./values";

const MOST_LISTED = 3;

export interface Lasting extends Pick<BoxLook, "told" | "awaited" | "half" | "alarms" | "isLoss" | "isUpdate"> {
  /** Gradients of a few numbers, each with the node that it is there from. */
  gradients: { node: number; text: string }[];
}

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
        const gradients = isGroup(of) ? [] : gradientsOf(recording, of);
        const widest = Math.max(0, ...gradients.map(({ text }) => width(text, DETAIL)));
        found = {
          told: isGroup(of) ? toldOfGroup(of) : toldOfNode(recording, of),
          awaited: isGroup(of) ? toldOfGroup(of) : awaitedOfNode(recording, of),
          gradients,
          half: of.backward.length ? Math.max(HALF, Math.ceil(widest) + 12) : 0,
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

/** The name of a result with its shape, or its value where it is a few numbers. */
function toldOfNode(recording: Recording, of: Box): string {
  const few = fewNumbers(recording, of.node);
  return [of.type, few === null ? textOf(recording, "shape", of.node) : `= ${few}`].filter(Boolean).join("  ");
}

/** The same before it has run: a number is yet to be told. */
function awaitedOfNode(recording: Recording, of: Box): string {
  return fewNumbers(recording, of.node) === null ? toldOfNode(recording, of) : of.type;
}

function gradientsOf(recording: Recording, of: Box): Lasting["gradients"] {
  return gradientNodes(recording, of, of.node).flatMap((node) => {
    const sum = sumBehind(recording, node);
    const text = sum ? listed(sum) : fewNumbers(recording, node);
    return text === null ? [] : [{ node, text }];
  });
}

/** A value that is a single number, or a vector of a few; null of any other. */
function fewNumbers(recording: Recording, node: number): string | null {
  const single = singleValue(recording, node);
  const value = single === null ? valueOfNode(recording, node) : null;
  return single !== null ? short(single) : value && listed(value);
}

function listed({ rows, isExact, numbers }: Value): string | null {
  if (!isExact || rows > 1 || numbers.length > MOST_LISTED) return null;
  const texts = Array.from(numbers, short);
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
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
