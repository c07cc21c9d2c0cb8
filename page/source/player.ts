/** The bar below: a slider over the nodes of a step and one over the steps, and what plays them. */

import { curves } from "./curves";
import { button, element } from "./dom";
import { type Recording, Role, textOf } from "./recording";
import type { Store } from "./state";

const STOPS = 160;

export interface Player {
  bar: HTMLElement;
  step(by: number): void;
  turn(by: number): void;
  toggle(): void;
}

export function player(store: Store): Player {
  const slider = element("input", { type: "range", class: "rows", min: 0, "aria-label": "The moment in the step" });
  const told = element("output", { class: "moment" });
  const where = element("output", { class: "where" });
  const course = element("div", { class: "steps" });
  const play = element("span", {});
  const bar = element(
    "footer",
    { class: "player" },
    element(
      "div",
      { class: "transport" },
      button("first", "To the begin (Home)", () => jump(0)),
      button("previous", "One node back (,)", () => step(-1)),
      play,
      button("next", "One node on (.)", () => step(1)),
      button("last", "To the end (End)", () => jump(Number.POSITIVE_INFINITY)),
    ),
    element("div", { class: "track" }, element("div", { class: "line" }, told, where), slider),
    course,
  );
  let timer = 0;

  const count = () => store.state.recording.nodesOf[store.state.section]!.length;

  function jump(to: number): void {
    store.change({ now: Math.min(Math.max(to, 0), count()) });
  }

  function step(by: number): void {
    store.change({ isPlaying: false });
    jump(store.state.now + by);
  }

  function turn(by: number): void {
    const { recording } = store.state;
    const section = Math.min(Math.max(store.state.section + by, 0), recording.sections.length - 1);
    if (section === store.state.section) return;
    const isWhole = store.state.now >= count();
    const now = isWhole
      ? recording.nodesOf[section]!.length
      : Math.min(store.state.now, recording.nodesOf[section]!.length);
    store.change({ section, now });
  }

  function toggle(): void {
    const isPlaying = !store.state.isPlaying;
    if (isPlaying && store.state.now >= count() - 1) store.change({ now: 0, isPlaying });
    else store.change({ isPlaying });
  }

  function advance(): void {
    if (store.state.now >= count() - 1) store.change({ isPlaying: false, now: count() });
    else jump(store.state.now + Math.max(Math.round(count() / 400), 1));
  }

  slider.addEventListener("input", () => store.change({ now: Number(slider.value), isPlaying: false }));

  function show(changed: Set<string> | null): void {
    const { recording, section, now, isPlaying } = store.state;
    const nodes = recording.nodesOf[section]!;
    if (!changed || changed.has("section") || changed.has("recording")) {
      slider.max = String(nodes.length);
      slider.style.setProperty("--bands", bands(recording, nodes));
      const drawn = curves(recording.sections, section, (to) => turn(to - section));
      course.replaceChildren(stepLine(), ...(drawn ? [drawn] : []));
      course.hidden = recording.sections.length === 1 && !drawn;
    }
    if (!changed || changed.has("isPlaying")) {
      const word = isPlaying ? "Pause (space)" : "Play both passes (space)";
      play.replaceChildren(button(isPlaying ? "pause" : "play", word, toggle, "main"));
      clearInterval(timer);
      if (isPlaying) timer = window.setInterval(advance, Math.min(Math.max(14_000 / nodes.length, 30), 420));
    }
    slider.value = String(now);
    slider.style.setProperty("--share", `${(now / Math.max(nodes.length, 1)) * 100}%`);
    const node = nodes[now];
    told.textContent = node === undefined ? "all of it has run" : describe(recording, node);
    told.className = `moment ${node === undefined ? "" : passOf(recording, node)}`;
    where.textContent = `${Math.min(now + 1, nodes.length).toLocaleString("en")} / ${nodes.length.toLocaleString("en")}`;
  }

  function stepLine(): HTMLElement {
    const { recording, section } = store.state;
    const several = recording.sections.length > 1;
    return element(
      "div",
      { class: "line" },
      several && button("previous", "The step before ([)", () => turn(-1), "small"),
      element("output", { class: "step", text: recording.sections[section]!.title }),
      several && button("next", "The next step (])", () => turn(1), "small"),
    );
  }

  store.listen((changed) => {
    if (["recording", "section", "now", "isPlaying"].some((name) => changed.has(name as "now"))) show(changed);
  });
  show(null);
  return { bar, step, turn, toggle };
}

export function passOf(recording: Recording, node: number): "forward" | "backward" | "update" {
  if (recording.nodes.role?.[node] === Role.update) return "update";
  return recording.nodes.backward[node] ? "backward" : "forward";
}

function describe(recording: Recording, node: number): string {
  const name = textOf(recording, "name", node);
  const label = textOf(recording, "label", node);
  return `#${recording.nodes.row[node]} ${label}${name && name !== label ? ` · ${name}` : ""} · ${passOf(recording, node)}`;
}

/** The passes of a step as bands of colour. */
function bands(recording: Recording, nodes: number[]): string {
  const stops: string[] = [];
  const size = Math.max(nodes.length / STOPS, 1);
  for (let begin = 0; begin < nodes.length; begin += size) {
    const pass = passOf(recording, nodes[Math.floor(begin)]!);
    const [from, to] = [begin, Math.min(begin + size, nodes.length)].map(
      (at) => `${((at / nodes.length) * 100).toFixed(2)}%`,
    );
    stops.push(`var(--${pass}) ${from} ${to}`);
  }
  return stops.length ? `linear-gradient(90deg, ${stops.join(", ")})` : "none";
}
