/** The widget of a notebook (of anywidget): a view in a shadow, so that neither's looks reach the other. */

import { element } from "./dom";
import { groundOf } from "./ground";
import { type Recording, read } from "./recording";
import type { State } from "./state";
import { dress } from "./theme";
import { type View, view } from "./view";

/** What is asked of a model of anywidget. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(names: string, heard: () => void): void;
  off(names: string, heard: () => void): void;
}

interface Given {
  model: Model;
  el: HTMLElement;
}

const NAMES = "change:recording change:told";

/** What a person has chosen, for when a widget is shown again. */
interface Kept {
  state?: State;
}

/** What anywidget calls once for each widget; of what it returns, once for each place where that is shown. */
export function widget(looks: string): () => { render(given: Given): () => void } {
  return () => {
    const kept: Kept = {};
    return { render: ({ model, el }) => shownIn(el, model, looks, kept) };
  };
}

function shownIn(el: HTMLElement, model: Model, looks: string, kept: Kept): () => void {
  const ending = new AbortController();
  const root = element("div", { class: "page guest", style: `height: ${Number(model.get("height"))}px` });
  const told = element("p", { class: "nothing" });
  // Jupyter leaves the keys to what says so.
  const host = element("div", { "data-lm-suppress-shortcuts": "true" });
  const shadow = host.attachShadow({ mode: "open" });
  shadow.append(element("style", { text: looks }), root);
  host.addEventListener("keydown", (event) => event.stopPropagation());
  root.append(told);
  el.replaceChildren(host);
  const setting = {
    root,
    keys: root,
    takesWheel: (event: WheelEvent) => event.ctrlKey || shadow.activeElement !== null,
    signal: ending.signal,
  };

  let shown: View | null = null;
  let asked = 0;

  function show(recording: Recording): void {
    if (shown) {
      shown.grow(recording);
      return;
    }
    const made = view(recording, groundOf(host), setting, kept.state);
    Object.assign(host, { graphscope: made.seen });
    made.store.listen((changed) => {
      kept.state = made.store.state;
      if (changed.has("chosen") || changed.has("node")) tell(made.rows());
    });
    shown = made;
  }

  function tell(rows: number[]): void {
    model.set("rows", rows);
    model.save_changes();
  }

  async function renew(): Promise<void> {
    asked += 1;
    const mine = asked;
    told.textContent = String(model.get("told"));
    told.hidden = !told.textContent;
    const packed = model.get("recording") as DataView<ArrayBuffer> | null;
    if (!packed?.byteLength) return;
    const text = await unpacked(packed);
    if (mine === asked && !ending.signal.aborted) show(read(text));
  }

  const dressed = new MutationObserver(() => {
    const theme = groundOf(host);
    dress(root, theme);
    shown?.store.change({ theme });
  });
  for (const each of [document.documentElement, document.body]) dressed.observe(each, { attributes: true });
  dress(root, groundOf(host));
  model.on(NAMES, renew);
  void renew();

  return () => {
    ending.abort();
    dressed.disconnect();
    model.off(NAMES, renew);
  };
}

function unpacked(packed: DataView<ArrayBuffer>): Promise<string> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
