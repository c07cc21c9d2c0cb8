/** Boxes that are alike and lie one behind the other become one, with their count: the layers of a stack, a loop. */

import { type Box, box, isGroup } from "./boxes";
import { type Recording, Role, textOf } from "./recording";

const LONGEST_TURN = 48;
const FEWEST_OPS = 8;

export function foldRepeats(of: Box, recording: Recording, numbers: Map<string, number> = new Map()): number {
  const signs = of.children.map((child) => sign(child, recording, numbers));
  const plain = signs.join();
  const found: Box[] = [];
  for (let place = 0; place < of.children.length; ) {
    const [period, count] = longest(of.children, signs, place);
    const members = of.children.slice(place, place + period * count);
    found.push(...(count > 1 ? [folded(of, members, period, count)] : members));
    place += period * count;
  }
  of.children = found;
  return numbered(numbers, plain);
}

/** A number that boxes have in common that did the same. */
function sign(of: Box, recording: Recording, numbers: Map<string, number>): number {
  const name = of.title.replace(/\d+/g, "#");
  if (isGroup(of)) return numbered(numbers, `${name}|${of.type}|${foldRepeats(of, recording, numbers)}`);
  const { site, role } = recording.nodes;
  const isProgram = !role || role[of.node] === Role.program;
  const own = isProgram ? `${textOf(recording, "op", of.node)}|${textOf(recording, "shape", of.node)}` : "";
  return numbered(numbers, `${of.kind}|${name}|${own}|${site[of.node]}`);
}

function numbered(numbers: Map<string, number>, text: string): number {
  const found = numbers.get(text) ?? numbers.size;
  numbers.set(text, found);
  return found;
}

/** The longest loop that begins at a place: how many boxes a turn has, and how many turns there are. */
function longest(boxes: Box[], signs: number[], place: number): [number, number] {
  let best: [number, number] = [1, 1];
  for (let period = 1; period <= LONGEST_TURN && place + 2 * period <= signs.length; period++) {
    let same = 0;
    while (place + period + same < signs.length && signs[place + same] === signs[place + period + same]) same++;
    const count = 1 + Math.floor(same / period);
    if (count < 2 || period * count <= best[0] * best[1]) continue;
    const turn = boxes.slice(place, place + period);
    const isWorthIt = turn.some(isGroup) ? count >= (period === 1 ? 2 : 3) : count >= 3 && period * count >= FEWEST_OPS;
    if (isWorthIt) best = [period, count];
  }
  return best;
}

function folded(around: Box, members: Box[], period: number, count: number): Box {
  const first = members[0]!;
  const last = members[members.length - period]!;
  const made = box("repeat", period === 1 ? range(first.title, last.title) : "loop", period === 1 ? first.type : "");
  made.count = count;
  made.parent = around;
  made.children = period === 1 ? members : turns(members, period, made);
  for (const each of made.children) each.parent = made;
  made.forward = members.flatMap((each) => each.forward);
  made.backward = members.flatMap((each) => each.backward);
  return made;
}

function turns(members: Box[], period: number, around: Box): Box[] {
  const found: Box[] = [];
  for (let place = 0; place < members.length; place += period) {
    const turn = box("stretch", `turn ${found.length + 1}`, "");
    turn.parent = around;
    turn.children = members.slice(place, place + period);
    for (const each of turn.children) each.parent = turn;
    turn.forward = turn.children.flatMap((each) => each.forward);
    turn.backward = turn.children.flatMap((each) => each.backward);
    found.push(turn);
  }
  return found;
}

/** `0–11` of `0` and `11`. */
function range(first: string, last: string): string {
  if (first === last) return first;
  const ends = [first, last].map((title) => /^(.*?)(\d+)(\D*)$/.exec(title));
  const [one, other] = ends;
  return one && other && one[1] === other[1] ? `${one[1]}${one[2]}–${other[2]}${one[3]}` : `${first} – ${last}`;
}
