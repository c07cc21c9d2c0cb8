/** What is drawn: cards of nodes, and groups of cards that open and close. */

export type BoxKind = "op" | "leaf" | "module" | "repeat" | "stretch";

/** A parameter or buffer, written on the cards that use it. */
export interface Chip {
  node: number;
  name: string;
  shape: string;
}

/** What flows between two boxes of one group; `source` ran ahead of `target`. */
export interface Link {
  source: Box;
  target: Box;
  /** So many tensors flow forward, and so many gradients back. */
  data: number;
  gradients: number;
  /** The shape of the first of them. */
  shape: string;
}

export interface Box {
  /** The same in each step: what is open and chosen stays so. */
  key: string;
  kind: BoxKind;
  title: string;
  /** The class of a module, or the op of a card that bears another name. */
  type: string;
  parent: Box | null;
  depth: number;
  children: Box[];
  /** The node that a card is of; -1 of groups. */
  node: number;
  forward: number[];
  backward: number[];
  chips: Chip[];
  /** So many are alike in a folded repetition. */
  count: number;
  links: Link[];
  /** The children that take something from outside of the group, and those that give something. */
  entries: Map<Box, Link>;
  exits: Map<Box, Link>;
}

export function box(kind: BoxKind, title: string, type: string, node = -1): Box {
  return {
    key: "",
    kind,
    title,
    type,
    parent: null,
    depth: 0,
    children: [],
    node,
    forward: [],
    backward: [],
    chips: [],
    count: 1,
    links: [],
    entries: new Map(),
    exits: new Map(),
  };
}

export function isGroup(each: Box): boolean {
  return each.children.length > 0;
}

export function adopt(parent: Box, child: Box): void {
  child.parent = parent;
  parent.children.push(child);
}

/** A box and all in it, those around others first. */
export function* walk(from: Box): Generator<Box> {
  yield from;
  for (const child of from.children) yield* walk(child);
}

export function ancestors(of: Box): Box[] {
  const found: Box[] = [];
  for (let each = of.parent; each; each = each.parent) found.push(each);
  return found;
}

/** The first row of the log that a box stands for; groups without forward nodes come last. */
export function firstNode(of: Box): number {
  return of.forward[0] ?? of.backward[0] ?? Number.POSITIVE_INFINITY;
}
