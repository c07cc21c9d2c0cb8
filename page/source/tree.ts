/** The boxes of one section: cards inside of the calls of modules that they ran in. */

import { adopt, type Box, box, firstNode, isGroup, walk } from "./boxes";
import { type Cards, cardsOf } from "./cards";
import { linkUp } from "./links";
import { type Recording, Role } from "./recording";
import { foldRepeats } from "./repeats";
import { MAKING, UPDATE } from "./roles";
import { partLong } from "./stretches";

export interface Tree {
  root: Box;
  cards: Cards;
  byKey: Map<string, Box>;
}

/** The trees of the sections, each made when it is first looked at. */
export function treesOf(recording: Recording): (section: number) => Tree {
  const known = new Map<number, Tree>();
  return (section) => {
    const found = known.get(section) ?? treeOf(recording, section);
    known.set(section, found);
    return found;
  };
}

export function treeOf(recording: Recording, section: number): Tree {
  const cards = cardsOf(recording, section);
  const root = box("module", recording.sections[section]?.title ?? "", "");
  const groups = new Map<string, Box>();

  function call(number: number): Box {
    if (number < 0) return root;
    const { calls, strings } = recording;
    return group(`call ${number}`, strings[calls.name[number]!]!, strings[calls.type[number]!]!, () =>
      call(calls.parent[number]!),
    );
  }

  function group(key: string, title: string, type: string, parent: () => Box): Box {
    let found = groups.get(key);
    if (!found) {
      found = box("module", title, type);
      groups.set(key, found);
      adopt(parent(), found);
    }
    return found;
  }

  for (const card of cards.all) {
    const role = recording.nodes.role?.[card.node] ?? Role.program;
    const around =
      role === Role.making
        ? group("making", MAKING, "", () => root)
        : cards.inputs.has(card)
          ? root
          : role === Role.update
            ? group("update", UPDATE, "", () => root)
            : call(recording.nodes.call[card.node]!);
    adopt(around, card);
  }
  settle(root, recording);
  foldTrivial(root);
  foldRepeats(root, recording);
  partLong(root, recording);
  const byKey = named(root);
  linkUp(recording, cards, root);
  return { root, cards, byKey };
}

/** Gives groups the nodes that lie in them, in the order of the log, and children in that order too. */
function settle(of: Box, recording: Recording): void {
  const { row } = recording.nodes;
  const byRow = (a: number, b: number) => row[a]! - row[b]!;
  for (const child of of.children) if (isGroup(child)) settle(child, recording);
  if (isGroup(of)) {
    of.forward = of.children.flatMap((child) => child.forward).sort(byRow);
    of.backward = of.children.flatMap((child) => child.backward).sort(byRow);
    of.children.sort((a, b) => (row[firstNode(a)] ?? 0) - (row[firstNode(b)] ?? 0));
  }
  of.forward.sort(byRow);
  of.backward.sort(byRow);
}

/** A module that ran one op is the card of that op. */
function foldTrivial(of: Box): void {
  of.children = of.children.map((child) => {
    foldTrivial(child);
    const only = child.children[0];
    if (child.kind !== "module" || child.children.length !== 1 || !only || isGroup(only)) return child;
    only.type = child.type || only.title;
    only.title = child.title;
    only.parent = of;
    return only;
  });
}

/** Names every box by where it is, so that the same box of another step bears the same name. */
function named(root: Box): Map<string, Box> {
  const found = new Map<string, Box>();
  for (const each of walk(root)) {
    each.depth = each.parent ? each.parent.depth + 1 : 0;
    const times = new Map<string, number>();
    for (const child of each.children) {
      const time = times.get(child.title) ?? 0;
      times.set(child.title, time + 1);
      child.parent = each;
      child.key = `${each.key}/${child.title}${time ? `:${time}` : ""}`;
    }
    found.set(each.key, each);
  }
  return found;
}
