/** The side panel: all that is known of what is chosen, or of the whole run where nothing is. */

import { type Box, isGroup } from "./boxes";
import { element } from "./dom";
import { counted, duration, short } from "./numbers";
import { ownerOf } from "./owners";
import { passOf } from "./player";
import { edgesOf, type Finding, Flag, has, Kind, type Recording, textOf } from "./recording";
import type { ThemeName } from "./theme";
import { histogram, picture } from "./value_pictures";
import { valueOfNode } from "./values";

export interface Guide {
  /** Goes to the box of a node, and opens what it lies in. */
  toNode(node: number): void;
  toBox(of: Box): void;
}

type Part = HTMLElement | SVGElement | null;

export function panelOf(recording: Recording, of: Box | null, node: number, theme: ThemeName, guide: Guide): Part[] {
  if (!of) return overview(recording, guide);
  return isGroup(of) ? ofGroup(recording, of, guide) : ofNode(recording, of, node < 0 ? of.node : node, theme, guide);
}

function overview(recording: Recording, guide: Guide): Part[] {
  const steps = recording.sections.filter((section) => section.is_step).length;
  return [
    element("h2", { text: recording.title }),
    element("p", {
      class: "muted",
      text: [counted(recording.count, "node"), steps ? counted(steps, "training step") : ""].filter(Boolean).join(", "),
    }),
    findingsPart(recording, recording.findings, guide),
    titled(
      "How to read it",
      legend("forward", "an op of the forward pass: what it computes flows down the grey lines"),
      legend("backward", "∂: the rule that takes its gradient back, up the orange lines"),
      legend("leaf", "what comes from outside; parameters stand on the ops that take them"),
      legend("update", "the loss, and what the optimizer does"),
      element("p", {
        class: "muted",
        text: "Click a box to see its value, gradient, line and formula; double-click or Enter opens a module. Space plays both passes, / searches, ? shows all keys.",
      }),
    ),
  ];
}

function legend(kind: string, text: string): HTMLElement {
  return element("p", { class: "legend" }, element("i", { class: kind }), text);
}

function ofGroup(recording: Recording, of: Box, guide: Guide): Part[] {
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
    findingsPart(
      recording,
      findings.map((place) => recording.findings[place]!),
      guide,
    ),
    facts([
      ["alike", of.count > 1 ? `${of.count}, one behind the other` : ""],
      ["forward", of.forward.length ? `${counted(of.forward.length, "node")}, ${duration(time(of.forward))}` : ""],
      ["backward", of.backward.length ? `${counted(of.backward.length, "node")}, ${duration(time(of.backward))}` : ""],
      ["parameters", size ? `${counted(chips.size, "tensor")}, ${counted(size, "number")}` : ""],
    ]),
    chips.size ? titled("Parameters", facts([...chips])) : null,
    titled(
      "In it",
      ...of.children
        .slice(0, 40)
        .map((child) => link(`${child.title}${child.type ? ` · ${child.type}` : ""}`, () => guide.toBox(child))),
    ),
  ];
}

function ofNode(recording: Recording, of: Box, node: number, theme: ThemeName, guide: Guide): Part[] {
  const { nodes, strings } = recording;
  const label = textOf(recording, "label", node);
  const name = textOf(recording, "name", node);
  const owner = ownerOf(recording, node);
  const findings = [...of.forward, ...of.backward].flatMap((each) => recording.findingsOf.get(each) ?? []);
  const value = nodes.backward[node] ? null : valuePart(recording, "Value", node, theme);
  const gradient = gradientNode(recording, of, node);
  const time = nodes.duration?.[node] ?? 0;
  return [
    crumbs(of, guide),
    element(
      "h2",
      {},
      label,
      element("span", { class: `badge ${passOf(recording, node)}`, text: passOf(recording, node) }),
    ),
    element("p", {
      class: "muted",
      text: [`#${nodes.row[node]}`, name !== label ? name : "", textOf(recording, "arguments", node)]
        .filter(Boolean)
        .join("  "),
    }),
    halves(recording, of, node, guide),
    findingsPart(
      recording,
      findings.map((place) => recording.findings[place]!),
      guide,
    ),
    facts([
      ["shape", [textOf(recording, "shape", node), textOf(recording, "dtype", node)].filter(Boolean).join("  ")],
      ["took", time ? duration(time) : ""],
      ["it is", about(recording, node)],
    ]),
    nodes.formula[node]!.length
      ? titled(
          "Formula",
          ...nodes.formula[node]!.map((text) => element("code", { class: "formula", text: strings[text]! })),
        )
      : null,
    value,
    gradient >= 0
      ? valuePart(recording, nodes.backward[node] ? "Gradient that arrived" : "Gradient", gradient, theme)
      : null,
    of.chips.length
      ? titled(
          "Parameters",
          ...of.chips.map((chip) => link(`${chip.name}  ${chip.shape}`, () => guide.toNode(chip.node))),
        )
      : null,
    sourcePart(recording, node),
    connections(recording, "Takes", edgesOf(recording.inputs, node), recording.edges.source, guide),
    connections(recording, "Used by", edgesOf(recording.users, node), recording.edges.target, guide),
    owner !== node ? null : missing(recording, node),
  ];
}

/** Where a person is: the modules around, each to be gone to. */
function crumbs(of: Box, guide: Guide): HTMLElement {
  const around: Box[] = [];
  for (let each = of.parent; each?.parent; each = each.parent) around.unshift(each);
  return element("nav", { class: "crumbs" }, ...around.map((each) => link(each.title, () => guide.toBox(each))));
}

/** The nodes of a card: its op, its rule and what adds up gradients. */
function halves(recording: Recording, of: Box, node: number, guide: Guide): HTMLElement | null {
  const all = [...of.forward, ...of.backward];
  if (all.length < 2) return null;
  return element(
    "div",
    { class: "halves" },
    ...all.slice(0, 12).map((each) =>
      element("button", {
        type: "button",
        class: `half ${passOf(recording, each)} ${each === node ? "shown" : ""}`,
        text: textOf(recording, "label", each),
        title: `#${recording.nodes.row[each]}`,
        click: () => guide.toNode(each),
      }),
    ),
  );
}

/** The node whose value is the gradient of another: its rule's, or what was added to a leaf. */
function gradientNode(recording: Recording, of: Box, node: number): number {
  const { kind, backward } = recording.nodes;
  if (backward[node]) return node;
  const own = recording.backwardOf.get(node) ?? [];
  const found = own.find((each) => kind[each] === Kind.grad) ?? own.find((each) => kind[each] === Kind.accumulate);
  return found ?? (of.node === node ? (of.backward.find((each) => kind[each] === Kind.grad) ?? -1) : -1);
}

function valuePart(recording: Recording, title: string, node: number, theme: ThemeName): HTMLElement | null {
  const told = recording.statistics;
  const place = recording.statisticsOf[node]!;
  const value = valueOfNode(recording, node);
  if (place < 0 && !value) return null;
  const isSingle = place >= 0 && told.count[place] === 1;
  if (isSingle && told.nan[place] === 0 && told.inf[place] === 0)
    return titled(title, element("p", { class: "single", text: short(told.mean[place]) }));
  return titled(
    title,
    place < 0
      ? null
      : facts([
          ["range", `${short(told.minimum[place])} … ${short(told.maximum[place])}`],
          ["mean ± std", `${short(told.mean[place])} ± ${short(told.std[place])}`],
          ["zeros", share(told.zero[place]!, told.count[place]!)],
          ["NaN", share(told.nan[place]!, told.count[place]!)],
          ["infinite", share(told.inf[place]!, told.count[place]!)],
        ]),
    value && !isSingle ? picture(value, theme) : null,
    value && !isSingle ? histogram(value) : null,
    value && !value.isExact
      ? element("p", { class: "muted", text: `a sample of ${value.rows}×${value.columns}` })
      : null,
  );
}

function share(count: number, of: number): string {
  return count ? `${count.toLocaleString("en")} of ${of.toLocaleString("en")} (${short((count / of) * 100)} %)` : "";
}

function sourcePart(recording: Recording, node: number): HTMLElement | null {
  const { nodes, sites, strings } = recording;
  const site = nodes.site[node]!;
  if (site < 0) return null;
  const [line, begin] = [sites.line[site]!, sites.begin[site]!];
  const file = strings[sites.file[site]!]!;
  const lines = sites.text[site]!.map((text, place) =>
    element(
      "div",
      { class: begin + place === line ? "line here" : "line" },
      element("span", { class: "number", text: String(begin + place) }),
      element("span", { text: strings[text]! }),
    ),
  );
  const where = `${file.split(/[\\/]/).pop()}:${line}`;
  const inside = strings[sites.function[site]!];
  return titled(
    "Line",
    element("p", { class: "muted", title: file, text: inside ? `${where} in ${inside}` : where }),
    lines.length ? element("div", { class: "source" }, ...lines) : null,
  );
}

function connections(
  recording: Recording,
  title: string,
  edges: Int32Array,
  ends: number[],
  guide: Guide,
): HTMLElement | null {
  const nodes = [...new Set(Array.from(edges, (edge) => ends[edge]!))];
  if (!nodes.length) return null;
  return titled(
    title,
    ...nodes
      .slice(0, 12)
      .map((node) => link(named(recording, node), () => guide.toNode(node), textOf(recording, "shape", node))),
    nodes.length > 12 ? element("p", { class: "muted", text: `and ${nodes.length - 12} more` }) : null,
  );
}

function named(recording: Recording, node: number): string {
  const [label, name] = [textOf(recording, "label", node), textOf(recording, "name", node)];
  return `#${recording.nodes.row[node]} ${label}${name && name !== label ? ` · ${name}` : ""}`;
}

function missing(recording: Recording, node: number): HTMLElement | null {
  return recording.statisticsOf[node]! < 0 ? element("p", { class: "muted", text: "Its value was not kept." }) : null;
}

function findingsPart(recording: Recording, findings: Finding[], guide: Guide): HTMLElement | null {
  if (!findings.length) return null;
  return element(
    "section",
    { class: "findings" },
    element("h3", { text: counted(findings.length, "finding") }),
    ...findings.map((each) =>
      element(
        "div",
        { class: `finding ${each.severity} ${each.cause >= 0 ? "later" : ""}` },
        element("p", { text: each.verdict }),
        each.source && element("code", { text: each.source }),
        each.cure && element("p", { class: "cure", text: each.cure }),
        each.node >= 0 &&
          link(`${each.place || "where"}  #${recording.nodes.row[each.node]}`, () => guide.toNode(each.node)),
      ),
    ),
  );
}

function about(recording: Recording, node: number): string {
  const told: [number, string][] = [
    [Flag.parameter, "a parameter"],
    [Flag.nonfinite, "not finite"],
    [Flag.inPlace, "written in place"],
    [Flag.edited, "edited by a person"],
  ];
  return told.flatMap(([flag, text]) => (has(recording, node, flag) ? [text] : [])).join(", ");
}

function elements(shape: string): number {
  return shape === "scalar" || !shape ? 1 : shape.split("×").reduce((size, side) => size * Number(side), 1);
}

function titled(title: string, ...parts: Part[]): HTMLElement {
  return element("section", {}, element("h3", { text: title }), ...(parts.filter(Boolean) as Node[]));
}

function facts(rows: [string, string][]): HTMLElement {
  return element(
    "dl",
    {},
    ...rows
      .filter(([, text]) => text)
      .flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]),
  );
}

function link(text: string, click: () => void, beside = ""): HTMLElement {
  return element(
    "button",
    { class: "link", type: "button", click },
    element("span", { text }),
    beside && element("small", { text: beside }),
  );
}
