/** The panel of a group: what it takes, how long it ran, what lies in it. */

import type { Box } from "./boxes";
import { element } from "./dom";
import { counted, duration } from "./numbers";
import { crumbs, facts, findingsPart, type Guide, link, type Part, titled } from "./panel_parts";
import type { Recording } from "./recording";

const MOST = 40;

export function ofGroup(recording: Recording, of: Box, guide: Guide): Part[] {
  const { nodes } = recording;
  const time = (list: number[]) => list.reduce((sum, node) => sum + (nodes.duration?.[node] ?? 0), 0);
  const chips = new Map<string, string>();
  const gather = (each: Box): void => {
    for (const chip of each.chips) chips.set(chip.name, chip.shape);
    each.children.forEach(gather);
  };
  gather(of);
  const size = [...chips.values()].reduce((sum, shape) => sum + elements(shape), 0);
  const findings = [...of.forward, ...of.backward].flatMap((node) => recording.findingsOf.get(node) ?? []);
  return [
    crumbs(of, guide),
    element("h2", { text: of.title }),
    of.type ? element("p", { class: "muted", text: of.type }) : null,
    findingsPart(recording, findings, guide),
    facts([
      ["alike", of.count > 1 ? `${of.count}, one behind the other` : ""],
      ["forward", of.forward.length ? `${counted(of.forward.length, "node")}, ${duration(time(of.forward))}` : ""],
      ["backward", of.backward.length ? `${counted(of.backward.length, "node")}, ${duration(time(of.backward))}` : ""],
      ["parameters", size ? `${counted(chips.size, "tensor")}, ${counted(size, "number")}` : ""],
    ]),
    chips.size ? titled("Parameters", facts(parameterRows(chips)), more(chips.size)) : null,
    titled(
      "In it",
      ...of.children.slice(0, MOST).map((child) => link(child.title, () => guide.toBox(child), child.type)),
      more(of.children.length),
    ),
  ];
}

function elements(shape: string): number {
  return shape === "scalar" || !shape ? 1 : shape.split("×").reduce((size, side) => size * Number(side), 1);
}

/** Parameters without the path that all of them have in common. */
function parameterRows(chips: Map<string, string>): [string, string][] {
  const paths = [...chips.keys()].map((name) => name.split("."));
  let same = 0;
  while (paths.every((path) => same < path.length - 1 && path[same] === paths[0]![same])) same++;
  return [...chips.values()].slice(0, MOST).map((shape, place) => [paths[place]!.slice(same).join("."), shape]);
}

function more(count: number): HTMLElement | null {
  return count > MOST ? element("p", { class: "muted", text: `and ${count - MOST} more` }) : null;
}
