/** What each key does: one table, which the help is made of. */

export interface KeyRow<Deeds> {
  keys: string[];
  shown: string;
  told: string;
  does: (deeds: Deeds) => void;
}

export interface Deeds {
  move(right: number, down: number): void;
  toggleChosen(): void;
  openAll(): void;
  closeAll(): void;
  fit(): void;
  zoom(by: number): void;
  play(): void;
  step(by: number): void;
  toEnd(end: 0 | 1): void;
  turn(by: number): void;
  search(): void;
  match(by: number): void;
  counterpart(): void;
  path(): void;
  finding(): void;
  theme(): void;
  help(): void;
  leave(): void;
}

/** What a key does, where it is not meant for a field or for the browser. */
export function rowOf(event: KeyboardEvent): KeyRow<Deeds> | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const [target] = event.composedPath();
  if (target instanceof HTMLInputElement && target.type === "range" && event.key.startsWith("Arrow")) return;
  return KEYS.find(({ keys }) => keys.includes(event.key));
}

export const KEYS: KeyRow<Deeds>[] = [
  { keys: ["ArrowDown", "j"], shown: "↓ j", told: "the box below", does: (deeds) => deeds.move(0, 1) },
  { keys: ["ArrowUp", "k"], shown: "↑ k", told: "the box above", does: (deeds) => deeds.move(0, -1) },
  { keys: ["ArrowLeft", "h"], shown: "← h", told: "the box at the left", does: (deeds) => deeds.move(-1, 0) },
  { keys: ["ArrowRight", "l"], shown: "→ l", told: "the box at the right", does: (deeds) => deeds.move(1, 0) },
  { keys: ["Enter"], shown: "Enter", told: "open or close the module", does: (deeds) => deeds.toggleChosen() },
  { keys: ["e"], shown: "e", told: "open one level more everywhere", does: (deeds) => deeds.openAll() },
  { keys: ["c"], shown: "c", told: "close all modules", does: (deeds) => deeds.closeAll() },
  { keys: [" "], shown: "space", told: "play both passes, or pause", does: (deeds) => deeds.play() },
  { keys: ["."], shown: ".", told: "one node on", does: (deeds) => deeds.step(1) },
  { keys: [","], shown: ",", told: "one node back", does: (deeds) => deeds.step(-1) },
  { keys: ["Home"], shown: "Home", told: "to the begin of the step", does: (deeds) => deeds.toEnd(0) },
  { keys: ["End"], shown: "End", told: "to its end", does: (deeds) => deeds.toEnd(1) },
  { keys: ["]"], shown: "]", told: "the next training step", does: (deeds) => deeds.turn(1) },
  { keys: ["["], shown: "[", told: "the step before", does: (deeds) => deeds.turn(-1) },
  { keys: ["/"], shown: "/", told: "search names, ops, shapes, lines, #rows", does: (deeds) => deeds.search() },
  { keys: ["n"], shown: "n", told: "the next match", does: (deeds) => deeds.match(1) },
  { keys: ["N"], shown: "N", told: "the match before", does: (deeds) => deeds.match(-1) },
  {
    keys: ["o"],
    shown: "o",
    told: "the other half: from an op to its rule, and back",
    does: (deeds) => deeds.counterpart(),
  },
  {
    keys: ["p", "P"],
    shown: "p",
    told: "the ways from the leaves through it to the loss",
    does: (deeds) => deeds.path(),
  },
  { keys: ["f"], shown: "f", told: "the next finding", does: (deeds) => deeds.finding() },
  { keys: ["+", "="], shown: "+", told: "closer", does: (deeds) => deeds.zoom(1.25) },
  { keys: ["-"], shown: "−", told: "farther", does: (deeds) => deeds.zoom(0.8) },
  { keys: ["0"], shown: "0", told: "the whole picture", does: (deeds) => deeds.fit() },
  { keys: ["t"], shown: "t", told: "light or dark", does: (deeds) => deeds.theme() },
  { keys: ["?"], shown: "?", told: "these keys", does: (deeds) => deeds.help() },
  { keys: ["Escape"], shown: "Esc", told: "leave the search, the path, the choice", does: (deeds) => deeds.leave() },
];
