/** A view of a recording: everything joined to what a person has chosen. */

import { ancestors, type Box, isGroup } from "./boxes";
import { element } from "./dom";
import { atItsEnd, grown } from "./growth";
import { header } from "./header";
import { help } from "./help";
import { type Deeds, rowOf } from "./keys";
import type { Point } from "./layout";
import { type Lasting, looksOf } from "./looks";
import type { Size } from "./measure";
import { nearest } from "./nearest";
import { once } from "./once";
import { openedAtFirst, openedOnce } from "./opening";
import { panelOf } from "./panel";
import { pathThrough } from "./paths";
import { picture } from "./picture";
import { player } from "./player";
import { hasArrived, hasBegun, hasRun, type Moment, orderOf, progressOf } from "./progress";
import type { Recording } from "./recording";
import { sceneOf } from "./scene";
import { matchesOf } from "./search";
import type { Setting } from "./setting";
import { type State, Store } from "./state";
import { dress, type ThemeName } from "./theme";
import { type Tree, treesOf } from "./tree";

export interface View {
  store: Store;
  /** The recording has grown. */
  grow(next: Recording): void;
  /** Stands at a row: it is at hand, and told of. */
  standAt(row: number): void;
  /** The rows of what is chosen: of a node, or of all that a module holds. */
  rows(): number[];
  /** What tests see of it. */
  seen: Seen;
}

interface Seen {
  state(): State;
  matches(): number;
  boxes(): { key: string; title: string; isOpen: boolean }[];
  /** Where a box is in the window. */
  place(key: string): (Point & Size) | null;
}

/** Shows a recording.
 * @param before What a person had chosen of it, where it was shown already.
 */
export function view(recording: Recording, theme: ThemeName, setting: Setting, before?: State): View {
  const looks = once(looksOf);
  const trees = once((of: Recording) => treesOf(of));
  let moment: Moment = { order: new Int32Array(), now: 0, count: 0 };
  let matches: Box[] = [];
  let matched = new Set<Box>();
  let path: Set<Box> | null = null;

  const store = new Store({
    ...atItsEnd(recording),
    isPlaying: false,
    open: new Set(),
    chosen: "",
    query: "",
    match: 0,
    showsPath: false,
    showsHelp: false,
    theme,
  });
  const lasting = (of: Box): Lasting => looks(store.state.recording).lasting(of);
  const tree = (): Tree => trees(store.state.recording)(store.state.section);
  store.state.open = openedAtFirst(tree().root);

  const stage = picture(
    {
      theme: () => store.state.theme,
      box(of) {
        const [told, run] = [lasting(of), progressOf(of, moment)];
        return {
          ...told,
          ...run,
          alarms: {
            forward: told.alarms.forward && run.forward > 0,
            backward: told.alarms.backward && run.backward > 0,
          },
          gradient: told.gradients.filter(({ node }) => hasArrived(node, moment)).pop()?.text ?? "",
          isChosen: of.key === store.state.chosen,
          isMatch: matched.has(of),
          isDimmed: path !== null && !path.has(of),
        };
      },
      line: ({ link }) => ({
        forward: hasBegun(link.source.forward, moment),
        backward: hasBegun(link.target.backward, moment),
        isShown: path === null || (path.has(link.source) && path.has(link.target)),
      }),
    },
    (of) => choose(of),
    (of) => toggle(of),
    setting,
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
    const { recording } = store.state;
    const section = recording.nodes.section[node]!;
    if (!tree().cards.of.has(node) && section !== store.state.section) store.change(atItsEnd(recording, section));
    const card = tree().cards.of.get(node);
    if (card) goTo(card, node);
  }

  const guide = {
    toNode: goToNode,
    toBox: (of: Box) => goTo(of),
    hasRun: (node: number) => hasRun(node, moment),
    hasArrived: (node: number) => hasArrived(node, moment),
  };

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
      const places = store.state.recording.findings.map((each) => each.node).filter((node) => node >= 0);
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
  const bar = player(store);
  const side = element("aside", { class: "panel", "aria-live": "polite" });
  const keys = help(() => store.change({ showsHelp: false }));
  setting.root.append(head.bar, element("main", {}, stage.frame, side), bar.bar, keys);

  const pressed = (event: Event): void => {
    const row = rowOf(event as KeyboardEvent);
    if (!row) return;
    event.preventDefault();
    row.does(deeds);
  };
  setting.keys.addEventListener("keydown", pressed, { signal: setting.signal });
  setting.signal.addEventListener("abort", () => store.change({ isPlaying: false }));

  // What follows from it ------------------------------------------------------------------------------------------------

  let anchor: Box | null = null;
  type Name = keyof typeof store.state;

  function show(changed: Set<Name> | null): void {
    const is = (...names: Name[]): boolean => !changed || names.some((name) => changed.has(name));
    const { state } = store;
    const { recording } = state;
    if (is("theme")) dress(setting.root, state.theme);
    if (is("recording", "section", "now")) {
      const count = recording.nodesOf[state.section]?.length ?? 0;
      const order = is("recording", "section") ? orderOf(recording, state.section) : moment.order;
      moment = { order, now: state.now, count };
    }
    if (is("recording", "section", "open")) {
      stage.show(
        sceneOf(tree().root, (of) => state.open.has(of.key) || !of.parent, lasting),
        anchor,
      );
      anchor = null;
    }
    if (is("recording", "section", "query")) {
      matches = matchesOf(recording, tree(), state.query);
      matched = new Set(matches);
    }
    if (is("recording", "section", "query", "match")) head.count(state.match, matches.length);
    if (is("recording", "section", "showsPath", "chosen")) {
      const of = chosen();
      const loss = recording.sections[state.section]?.root ?? -1;
      const from = of ? (of.node >= 0 ? of.node : (of.forward[0] ?? -1)) : loss;
      path = state.showsPath && from >= 0 ? pathThrough(recording, tree(), from, loss) : null;
    }
    if (is("recording", "section", "now", "chosen", "node", "theme")) {
      side.replaceChildren(
        ...panelOf(recording, chosen(), state.node, state.theme, guide).filter((part) => part !== null),
      );
      if (is("recording", "section", "chosen", "node")) side.scrollTop = 0;
    }
    if (is("showsHelp")) keys.hidden = !state.showsHelp;
    if (changed?.has("now")) follow();
    if (changed?.has("query") && matches.length) goToMatch(0);
    stage.refresh();
  }

  /** The node that runs at this moment; -1 where all have run. */
  function nodeAtHand(): number {
    const { recording, section, now } = store.state;
    return recording.nodesOf[section]?.[now] ?? -1;
  }

  /** What is at hand is kept in sight. */
  function follow(): void {
    let of = tree().cards.of.get(nodeAtHand()) ?? null;
    while (of && !stage.scene().at.has(of)) of = of.parent;
    if (of?.parent) stage.reveal(of);
  }

  if (before) store.change({ ...before, ...grown(before, recording), theme, isPlaying: false });
  store.listen(show);
  addEventListener("beforeprint", () => dress(setting.root, "light"), { signal: setting.signal });
  addEventListener("afterprint", () => dress(setting.root, store.state.theme), { signal: setting.signal });
  show(null);
  requestAnimationFrame(() => stage.top());

  return {
    store,
    grow(next) {
      const isTouched = !same(store.state.open, openedAtFirst(tree().root));
      const kept = grown(store.state, next);
      const open = isTouched ? store.state.open : openedAtFirst(trees(next)(kept.section).root);
      store.change({ ...kept, open });
    },
    standAt(row) {
      const { recording } = store.state;
      const node = recording.nodes.row.indexOf(row);
      if (node < 0) return;
      goToNode(node);
      store.change({ isPlaying: false, now: recording.nodesOf[store.state.section]!.indexOf(node) });
    },
    rows() {
      const of = chosen();
      const { node } = store.state;
      const nodes = !of ? [] : isGroup(of) ? [...of.forward, ...of.backward] : [node < 0 ? of.node : node];
      return nodes.map((each) => store.state.recording.nodes.row[each]!);
    },
    seen: {
      state: () => store.state,
      matches: () => matches.length,
      boxes: () =>
        stage.scene().boxes.map((each) => ({ key: each.box.key, title: each.box.title, isOpen: each.isOpen })),
      place(key: string) {
        const of = tree().byKey.get(key);
        const found = of && stage.windowOf(of);
        const corner = stage.frame.getBoundingClientRect();
        return found ? { ...found, x: found.x + corner.x, y: found.y + corner.y } : null;
      },
    },
  };
}

function same(one: Set<string>, other: Set<string>): boolean {
  return one.size === other.size && [...one].every((each) => other.has(each));
}
