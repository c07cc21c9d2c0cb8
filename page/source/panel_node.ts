/** The panel of a node: its line, value, gradient and formula, and what it is joined to. */

import type { Box } from "./boxes";
import { element } from "./dom";
import { gradientNodes } from "./gradients";
import { duration } from "./numbers";
import { ownerOf } from "./owners";
import { crumbs, facts, findingsPart, type Guide, link, named, type Part, titled } from "./panel_parts";
import { sumPart, valuePart } from "./panel_value";
import { passOf } from "./player";
import { edgesOf, Flag, has, type Recording, textOf } from "./recording";
import type { ThemeName } from "./theme";

const MOST = 12;

export function ofNode(recording: Recording, of: Box, node: number, theme: ThemeName, guide: Guide): Part[] {
  const { nodes, strings } = recording;
  const label = textOf(recording, "label", node);
  const name = textOf(recording, "name", node);
  const owner = ownerOf(recording, node);
  const findings = [...of.forward, ...of.backward].flatMap((each) => recording.findingsOf.get(each) ?? []);
  const told = guide.hasRun(node);
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
    findingsPart(recording, findings, guide),
    facts([
      ["shape", [textOf(recording, "shape", node), textOf(recording, "dtype", node)].filter(Boolean).join("  ")],
      ["took", time ? duration(time) : ""],
      ["it is", about(recording, node)],
    ]),
    nodes.formula[node]!.length
      ? titled(
          "Formula",
          ...nodes.formula[node]!.slice(0, told ? undefined : 1).map((text) =>
            element("code", { class: "formula", text: strings[text]! }),
          ),
        )
      : null,
    told ? null : element("p", { class: "muted", text: "It has not run yet." }),
    told && !nodes.backward[node] ? valuePart(recording, "Value", node, theme) : null,
    ...gradientParts(recording, of, node, theme, guide),
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

/** What has arrived so far: at a rule, with a contribution to a leaf, or in all of them together. */
function gradientParts(recording: Recording, of: Box, node: number, theme: ThemeName, guide: Guide): Part[] {
  const newest = gradientNodes(recording, of, node).filter(guide.hasArrived).pop();
  if (newest === undefined) return [];
  if (recording.nodes.backward[node])
    return [
      valuePart(recording, "Gradient that arrived", node, theme),
      sumPart(recording, "Sum with what came before", node, theme),
    ];
  return [sumPart(recording, "Gradient, a sum", newest, theme) ?? valuePart(recording, "Gradient", newest, theme)];
}

/** The nodes of a card: its op, its rule and what adds up gradients. */
function halves(recording: Recording, of: Box, node: number, guide: Guide): HTMLElement | null {
  const all = [...of.forward, ...of.backward];
  if (all.length < 2) return null;
  return element(
    "div",
    { class: "halves" },
    ...all.slice(0, MOST).map((each) =>
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
      .slice(0, MOST)
      .map((node) => link(named(recording, node), () => guide.toNode(node), textOf(recording, "shape", node))),
    nodes.length > MOST ? element("p", { class: "muted", text: `and ${nodes.length - MOST} more` }) : null,
  );
}

function missing(recording: Recording, node: number): HTMLElement | null {
  return recording.statisticsOf[node]! < 0 ? element("p", { class: "muted", text: "Its value was not kept." }) : null;
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
