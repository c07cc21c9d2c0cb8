/** What the panels are made of: headings, facts, links, findings. */

import type { Box } from "./boxes";
import { element } from "./dom";
import { counted } from "./numbers";
import { type Finding, type Recording, textOf } from "./recording";

export interface Guide {
  /** Goes to the box of a node, and opens what it lies in. */
  toNode(node: number): void;
  toBox(of: Box): void;
  /** Whether a node has run at the moment that is shown: of what comes later nothing is told yet. */
  hasRun(node: number): boolean;
  /** Whether a gradient has come in this step. */
  hasArrived(node: number): boolean;
}

export type Part = HTMLElement | SVGElement | null;

export function titled(title: string, ...parts: Part[]): HTMLElement {
  return element("section", {}, element("h3", { text: title }), ...(parts.filter(Boolean) as Node[]));
}

export function facts(rows: [string, string][]): HTMLElement {
  return element(
    "dl",
    {},
    ...rows
      .filter(([, text]) => text)
      .flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]),
  );
}

export function link(text: string, click: () => void, beside = ""): HTMLElement {
  return element(
    "button",
    { class: "link", type: "button", click },
    element("span", { text }),
    beside && element("small", { text: beside }),
  );
}

/** Where a person is: the modules around, each to be gone to. */
export function crumbs(of: Box, guide: Guide): HTMLElement {
  const around: Box[] = [];
  for (let each = of.parent; each?.parent; each = each.parent) around.unshift(each);
  return element("nav", { class: "crumbs" }, ...around.map((each) => link(each.title, () => guide.toBox(each))));
}

export function named(recording: Recording, node: number): string {
  const [label, name] = [textOf(recording, "label", node), textOf(recording, "name", node)];
  return `#${recording.nodes.row[node]} ${label}${name && name !== label ? ` · ${name}` : ""}`;
}

export function findingsPart(recording: Recording, places: number[], guide: Guide): HTMLElement | null {
  if (!places.length) return null;
  return element(
    "section",
    { class: "findings" },
    element("h3", { text: counted(places.length, "finding") }),
    ...places.map((place) => finding(recording.findings[place]!, guide)),
  );
}

function finding(each: Finding, guide: Guide): HTMLElement {
  const where = `${each.place || "where"}  #${each.row}`;
  return element(
    "div",
    { class: `finding ${each.severity} ${each.cause >= 0 ? "later" : ""}` },
    element("p", { text: each.verdict }),
    each.source && element("code", { text: each.source }),
    each.cure && element("p", { class: "cure", text: each.cure }),
    each.node >= 0 && link(where, () => guide.toNode(each.node)),
  );
}
