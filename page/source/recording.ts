/** What a page knows: the columns that Python wrote, and what follows from them at once. */

export interface NodeColumns {
  row: number[];
  kind: number[];
  backward: number[];
  label: number[];
  op: number[];
  name: number[];
  arguments: number[];
  shape: number[];
  dtype: number[];
  site: number[];
  forward: number[];
  flags: number[];
  call: number[];
  section: number[];
  formula: number[][];
  tensor?: number[];
  duration?: number[];
  role?: number[];
}

export interface EdgeColumns {
  source: number[];
  target: number[];
  slot: number[];
  argument: number[];
  gradient: number[];
}

export interface Section {
  title: string;
  is_step: boolean;
  loss: number | null;
  norm: number | null;
  rate: number | null;
  root: number;
}

export interface Finding {
  severity: "error" | "warning";
  verdict: string;
  cure: string;
  place: string;
  source: string;
  node: number;
  row: number;
  cause: number;
}

export interface StatisticsColumns {
  node: number[];
  minimum: (number | null)[];
  maximum: (number | null)[];
  mean: (number | null)[];
  std: (number | null)[];
  nan: number[];
  inf: number[];
  zero: number[];
  count: number[];
}

export interface SampleColumns {
  node: number[];
  rows: number[];
  columns: number[];
  low: number[];
  high: number[];
  exact: number[];
  place: number[];
  data: string;
  bins: number;
  left_out: number;
}

interface PageData {
  version: number;
  made_by: string;
  title: string;
  nodes: NodeColumns;
  edges: EdgeColumns;
  calls: { parent: number[]; name: number[]; type: number[] };
  sites: { file: number[]; line: number[]; function: number[]; begin: number[]; text: number[][] };
  sections: Section[];
  shown: number;
  findings: Finding[];
  statistics: StatisticsColumns;
  samples: SampleColumns;
  /** What gradients were behind the nodes that added to them. */
  sums: SampleColumns;
  strings: string[];
}

export const Kind = { leaf: 0, op: 1, grad: 2, accumulate: 3, scope: 4 } as const;
export const Flag = {
  parameter: 1,
  requiresGrad: 2,
  nonfinite: 4,
  edited: 8,
  inPlace: 16,
  current: 32,
  breakpoint: 64,
  highlighted: 128,
} as const;
export const Role = { program: 0, making: 1, update: 2 } as const;

/** Edges by one of their ends: those of node `i` stand at `at[i]` up to `at[i + 1]`. */
export interface Ends {
  at: Int32Array;
  edges: Int32Array;
}

export interface Recording extends PageData {
  count: number;
  inputs: Ends;
  users: Ends;
  /** The backward nodes of each forward node: rules, what is added to its gradient, ops inside of rules. */
  backwardOf: Map<number, number[]>;
  /** Of each node its place among the statistics; -1 where there are none. */
  statisticsOf: Int32Array;
  samplesOf: Int32Array;
  sumsOf: Int32Array;
  findingsOf: Map<number, number[]>;
  /** The nodes of each section, in the order of the log. */
  nodesOf: number[][];
}

export function read(text: string): Recording {
  const data = JSON.parse(text) as PageData;
  const { nodes, edges } = data;
  const count = nodes.row.length;
  const backwardOf = new Map<number, number[]>();
  const nodesOf: number[][] = data.sections.map(() => []);
  const order = Array.from({ length: count }, (_, node) => node).sort((a, b) => nodes.row[a]! - nodes.row[b]!);
  for (const node of order) {
    const forward = nodes.forward[node]!;
    if (forward >= 0) append(backwardOf, forward, node);
    nodesOf[nodes.section[node]!]?.push(node);
  }
  const findingsOf = new Map<number, number[]>();
  data.findings.forEach((each, place) => {
    if (each.node >= 0) append(findingsOf, each.node, place);
  });
  return {
    ...data,
    count,
    inputs: ends(count, edges.target),
    users: ends(count, edges.source),
    backwardOf,
    statisticsOf: placesOf(count, data.statistics.node),
    samplesOf: placesOf(count, data.samples.node),
    sumsOf: placesOf(count, data.sums.node),
    findingsOf,
    nodesOf,
  };
}

export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function ends(count: number, nodes: number[]): Ends {
  const at = new Int32Array(count + 1);
  for (const node of nodes) at[node + 1]!++;
  for (let node = 0; node < count; node++) at[node + 1]! += at[node]!;
  const next = at.slice();
  const edges = new Int32Array(nodes.length);
  nodes.forEach((node, edge) => {
    edges[next[node]!++] = edge;
  });
  return { at, edges };
}

function placesOf(count: number, nodes: number[]): Int32Array {
  const found = new Int32Array(count).fill(-1);
  nodes.forEach((node, place) => {
    found[node] = place;
  });
  return found;
}

export function edgesOf(of: Ends, node: number): Int32Array {
  return of.edges.subarray(of.at[node]!, of.at[node + 1]!);
}

export function textOf(
  recording: Recording,
  column: "label" | "op" | "name" | "arguments" | "shape" | "dtype",
  node: number,
): string {
  return recording.strings[recording.nodes[column][node]!] ?? "";
}

export function has(recording: Recording, node: number, flag: number): boolean {
  return (recording.nodes.flags[node]! & flag) !== 0;
}
