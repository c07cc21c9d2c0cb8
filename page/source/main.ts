/** The page: everything joined to what a person has chosen. */

import { ancestors, type Box, isGroup } from "./boxes";
import { element } from "./dom";
import { header } from "./header";
import { help } from "./help";
import { type Deeds, KEYS } from "./keys";
import { looksOf } from "./looks";
import { nearest } from "./nearest";
import { openedAtFirst, openedOnce } from "./opening";
import { panelOf } from "./panel";
import { pathThrough } from "./paths";
import { picture } from "./picture";
import { player } from "./player";
import { hasBegun, type Moment, orderOf, progressOf } from "./progress";
import { read } from "./recording";
import { sceneOf } from "./scene";
import { matchesOf } from "./search";
import { Store } from "./state";
import { dress, preferred } from "./theme";
import { type Tree, treeOf } from "./tree";

const recording = read(document.getElementById("recording")!.textContent!);
const looks = looksOf(recording);
const trees = new Map<number, Tree>();
let moment: Moment = { order: new Int32Array(), now: 0, count: 0 };
let matches: Box[] = [];
let matched = new Set<Box>();
let path: Set<Box> | null = null;

function tree(): Tree {
  const { section } = store.state;
  let found = trees.get(section);
  if (!found) {
    found = treeOf(recording, section);
    trees.set(section, found);
  }
  return found;
}

const store = new Store({
  section: recording.shown,
  now: recording.nodesOf[recording.shown]?.length ?? 0,
  isPlaying: false,
  open: new Set(),
  chosen: "",
  node: -1,
  query: "",
  match: 0,
  showsPath: false,
  showsHelp: false,
  theme: preferred(),
});
store.state.open = openedAtFirst(tree().root);

const stage = picture(
  {
    theme: () => store.state.theme,
    box: (of) => ({
      ...looks.lasting(of),
      ...progressOf(of, moment),
      isChosen: of.key === store.state.chosen,
      isMatch: matched.has(of),
      isDimmed: path !== null && !path.has(of),
    }),
    line: ({ link }) => ({
      forward: hasBegun(link.source.forward, moment),
      backward: hasBegun(link.target.backward, moment),
      isShown: path === null || (path.has(link.source) && path.has(link.target)),
    }),
  },
  (of) => choose(of),
  (of) => toggle(of),
);

// What a person does --------------------------------------------------------------------------------------------------

function chosen(): Box | null {
  return (store.state.chosen && tree().byKey.get(store.state.chosen)) || null;
}

function choose(of: Box | null, node = of?.node ?? -1): void {
  store.change({ chosen: of?.key ?? "", node });
}

function toggle(of: Box): void {
  if (!isGroup(of)) return;
  const open = new Set(store.state.open);
  if (!open.delete(of.key)) open.add(of.key);
  anchor = of;
  store.change({ open });
}

/** Opens what a box lies in, and shows it. */
function goTo(of: Box, node = of.node): void {
  const missing = ancestors(of).filter((each) => !store.state.open.has(each.key));
  if (missing.length) store.change({ open: new Set([...store.state.open, ...missing.map((each) => each.key)]) });
  choose(of, node);
  stage.reveal(of);
}

function goToNode(node: number): void {
  const section = recording.nodes.section[node]!;
  if (!tree().cards.of.has(node) && section !== store.state.section)
    store.change({ section, now: recording.nodesOf[section]!.length });
  const card = tree().cards.of.get(node);
  if (card) goTo(card, node);
}

const guide = { toNode: goToNode, toBox: (of: Box) => goTo(of) };

function goToMatch(place: number): void {
  if (!matches.length) return;
  const match = (place + matches.length) % matches.length;
  store.change({ match });
  goTo(matches[match]!);
}

const deeds: Deeds = {
  move(right, down) {
    const found = nearest(stage.scene(), chosen(), right, down);
    if (found) goTo(found);
  },
  toggleChosen() {
    const of = chosen();
    if (of) toggle(isGroup(of) || !of.parent?.parent ? of : of.parent);
  },
  openAll: () => store.change({ open: openedOnce(tree().root, store.state.open, 2000) }),
  closeAll() {
    store.change({ open: new Set([tree().root.key]) });
    stage.fit();
  },
  fit: () => stage.fit(),
  zoom: (by) => stage.zoom(by),
  play: () => bar.toggle(),
  step(by) {
    bar.step(by);
    const node = nodeAtHand();
    const of = node < 0 ? null : tree().cards.of.get(node);
    if (of) choose(of, node);
  },
  toEnd: (end) => bar.step(end ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
  turn: (by) => bar.turn(by),
  search: () => head.search.select(),
  match: (by) => goToMatch(store.state.match + by),
  counterpart() {
    const of = chosen();
    if (!of) return;
    const isForward = of.forward.includes(store.state.node);
    choose(of, (isForward ? of.backward[0] : of.forward[0]) ?? store.state.node);
  },
  path: () => store.change({ showsPath: !store.state.showsPath }),
  finding() {
    const places = recording.findings.map((each) => each.node).filter((node) => node >= 0);
    const next = places[(places.indexOf(store.state.node) + 1) % places.length];
    if (next !== undefined) goToNode(next);
  },
  theme: () => store.change({ theme: store.state.theme === "light" ? "dark" : "light" }),
  help: () => store.change({ showsHelp: !store.state.showsHelp }),
  leave() {
    if (store.state.showsHelp) store.change({ showsHelp: false });
    else if (store.state.query) {
      head.search.value = "";
      store.change({ query: "" });
    } else if (store.state.showsPath) store.change({ showsPath: false });
    else choose(null);
    head.search.blur();
  },
};

const head = header(recording.title, {
  ...deeds,
  typed: (query) => store.change({ query, match: 0 }),
  left: deeds.leave,
});
const bar = player(recording, store);
const side = element("aside", { class: "panel", "aria-live": "polite" });
const keys = help(() => store.change({ showsHelp: false }));
document.body.append(head.bar, element("main", {}, stage.frame, side), bar.bar, keys);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement && event.target.type === "range" && event.key.startsWith("Arrow"))
    return;
  const row = KEYS.find(({ keys }) => keys.includes(event.key));
  if (!row) return;
  event.preventDefault();
  row.does(deeds);
});

// What follows from it ------------------------------------------------------------------------------------------------

let anchor: Box | null = null;
type Name = keyof typeof store.state;

function show(changed: Set<Name> | null): void {
  const is = (...names: Name[]): boolean => !changed || names.some((name) => changed.has(name));
  const { state } = store;
  if (is("theme")) dress(document.documentElement, state.theme);
  if (is("section", "now")) {
    const count = recording.nodesOf[state.section]?.length ?? 0;
    const order = is("section") ? orderOf(recording, state.section) : moment.order;
    moment = { order, now: state.now, count };
  }
  if (is("section", "open")) {
    stage.show(
      sceneOf(
        tree().root,
        (of) => state.open.has(of.key) || !of.parent,
        (of) => looks.lasting(of).told,
      ),
      anchor,
    );
    anchor = null;
  }
  if (is("section", "query")) {
    matches = matchesOf(recording, tree(), state.query);
    matched = new Set(matches);
  }
  if (is("section", "query", "match")) head.count(state.match, matches.length);
  if (is("section", "showsPath", "chosen")) {
    const of = chosen();
    const loss = recording.sections[state.section]?.root ?? -1;
    const from = of ? (of.node >= 0 ? of.node : (of.forward[0] ?? -1)) : loss;
    path = state.showsPath && from >= 0 ? pathThrough(recording, tree(), from, loss) : null;
  }
  if (is("section", "chosen", "node", "theme")) {
    side.replaceChildren(
      ...panelOf(recording, chosen(), state.node, state.theme, guide).filter((part) => part !== null),
    );
    side.scrollTop = 0;
  }
  if (is("showsHelp")) keys.hidden = !state.showsHelp;
  if (changed?.has("now")) follow();
  if (changed?.has("query") && matches.length) goToMatch(0);
  stage.refresh();
}

/** The node that runs at this moment; -1 where all have run. */
function nodeAtHand(): number {
  return recording.nodesOf[store.state.section]?.[store.state.now] ?? -1;
}

/** What is at hand is kept in sight. */
function follow(): void {
  let of = tree().cards.of.get(nodeAtHand()) ?? null;
  while (of && !stage.scene().at.has(of)) of = of.parent;
  if (of?.parent) stage.reveal(of);
}

store.listen(show);
show(null);
requestAnimationFrame(() => stage.top());

/** What tests and notebooks see of the page. */
Object.assign(window, {
  graphscope: {
    state: () => store.state,
    matches: () => matches.length,
    boxes: () => stage.scene().boxes.map((each) => ({ key: each.box.key, title: each.box.title, isOpen: each.isOpen })),
    place(key: string) {
      const of = tree().byKey.get(key);
      const found = of && stage.windowOf(of);
      const corner = stage.frame.getBoundingClientRect();
      return found ? { ...found, x: found.x + corner.x, y: found.y + corner.y } : null;
    },
  },
});
