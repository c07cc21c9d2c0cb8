/** The cards of one section: forward nodes with their backward halves, parameters as chips on the cards that use them. */

import { type Box, box } from "./boxes";
import { neighbourOf, originOf, ownerOf } from "./owners";
import { edgesOf, Flag, has, Kind, type Recording, Role, textOf } from "./recording";

export interface Cards {
  all: Box[];
  /** The card of each node, also of those that are drawn as a part of it. */
  of: Map<number, Box>;
  /** Parameters and buffers: the nodes that are drawn as chips. */
  chips: Set<number>;
  /** Leaves that came from outside of all modules. */
  inputs: Set<Box>;
}

export function cardsOf(recording: Recording, section: number): Cards {
  const { nodes, edges } = recording;
  const cards: Cards = { all: [], of: new Map(), chips: new Set(), inputs: new Set() };
  const members = recording.nodesOf[section] ?? [];
  const inside = new Set(members);
  const behind: number[] = [];
  const leaves = new Set<number>();
  for (const node of members) {
    if (nodes.forward[node]! >= 0 || nodes.backward[node]) behind.push(node);
    else if (nodes.kind[node] === Kind.leaf) leaves.add(node);
    else enter(recording, cards, node, "op");
  }
  for (const node of members)
    for (const edge of edgesOf(recording.inputs, node)) {
      const source = edges.source[edge]!;
      if (!inside.has(source) && !nodes.backward[source]) leaves.add(source);
    }
  for (const leaf of leaves) enterLeaf(recording, cards, leaf, inside);
  for (const node of behind) enterBackward(recording, cards, node);
  for (const node of behind) if (!cards.of.has(node)) hang(recording, cards, node);
  return cards;
}

function enter(recording: Recording, cards: Cards, node: number, kind: "op" | "leaf"): Box {
  const label = textOf(recording, "label", node);
  const name = textOf(recording, "name", node);
  const made = box(kind, kind === "leaf" ? name || label : label, kind === "leaf" ? "" : name, node);
  made.forward.push(node);
  cards.all.push(made);
  cards.of.set(node, made);
  return made;
}

function enterLeaf(recording: Recording, cards: Cards, leaf: number, inside: Set<number>): void {
  const origin = originOf(recording, leaf);
  const name = textOf(recording, "name", origin);
  const isUpdate = (node: number) => recording.nodes.role?.[node] === Role.update;
  const isHeld =
    isUpdate(leaf) ||
    has(recording, origin, Flag.parameter) ||
    (recording.nodes.kind[origin] === Kind.leaf && textOf(recording, "op", origin) === "leaf" && name.includes("."));
  const users = edgesOf(recording.users, leaf)
    .map((edge) => recording.edges.target[edge]!)
    .filter((user) => inside.has(user));
  const known = (some: number[]) =>
    new Set(some.map((user) => cards.of.get(user)).filter((each) => each !== undefined));
  const takers = known(Array.from(users).filter((user) => !isUpdate(user)));
  const [updater] = known(Array.from(users).filter(isUpdate));
  if (isHeld && !takers.size && updater) {
    cards.chips.add(leaf);
    cards.of.set(leaf, updater);
    return;
  }
  if (!isHeld || !takers.size) {
    const made = enter(recording, cards, leaf, "leaf");
    if (!inside.has(leaf) || recording.nodes.call[leaf]! < 0 || textOf(recording, "op", leaf) === "leaf")
      cards.inputs.add(made);
    return;
  }
  const chip = {
    node: leaf,
    name: name || "parameter",
    shape: textOf(recording, "shape", leaf),
  };
  cards.chips.add(leaf);
  for (const taker of takers) {
    if (!taker.chips.some((each) => each.node === chip.node)) taker.chips.push(chip);
    if (!cards.of.has(leaf)) cards.of.set(leaf, taker);
  }
}

/** Puts a backward node on the card of its forward node; what is added to a parameter, on that of the rule that did. */
function enterBackward(recording: Recording, cards: Cards, node: number): void {
  let owner = ownerOf(recording, node);
  if (recording.nodes.kind[node] === Kind.accumulate && (cards.chips.has(owner) || !cards.of.has(owner))) {
    const edge = edgesOf(recording.inputs, node)[0];
    if (edge !== undefined) owner = ownerOf(recording, recording.edges.source[edge]!);
  }
  const card = cards.of.get(owner);
  if (card && owner !== node) {
    card.backward.push(node);
    cards.of.set(node, card);
  }
}

function hang(recording: Recording, cards: Cards, node: number): void {
  let at = node;
  for (let times = 0; times < 4; times++) {
    at = neighbourOf(recording, at);
    const card = at < 0 ? undefined : cards.of.get(at);
    if (card) {
      card.backward.push(node);
      cards.of.set(node, card);
      return;
    }
    if (at < 0) break;
  }
  const made = enter(recording, cards, node, "op");
  made.backward = made.forward;
  made.forward = [];
}
