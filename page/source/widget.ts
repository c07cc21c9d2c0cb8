/** The widget of a notebook (of anywidget): a view in a shadow, so that neither's looks reach the other. */

import { element } from "./dom";
import { groundOf } from "./ground";
import { type Recording, read } from "./recording";
import { type View, view } from "./view";

/** What is asked of a model of anywidget. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(name: string, heard: () => void): void;
  off(name: string, heard: () => void): void;
}

export const widget = {
  render({ model, el }: { model: Model; el: HTMLElement }): () => void {
    const ending = new AbortController();
    const root = element("div", { class: "page guest", style: `height: ${Number(model.get("height"))}px` });
    // Jupyter leaves the keys to what says so.
    const host = element("div", { "data-lm-suppress-shortcuts": "true" });
    const shadow = host.attachShadow({ mode: "open" });
    shadow.append(element("style", { text: String(model.get("looks")) }), root);
    host.addEventListener("keydown", (event) => event.stopPropagation());
    el.replaceChildren(host);

    let shown: View | null = null;
    let asked = 0;

    function show(recording: Recording): void {
      if (shown) {
        shown.grow(recording);
        return;
      }
      root.replaceChildren();
      shown = view(recording, groundOf(host), {
        root,
        keys: root,
        takesWheel: (event) => event.ctrlKey || shadow.activeElement !== null,
        signal: ending.signal,
      });
      Object.assign(host, { graphscope: shown.seen });
      shown.store.listen((changed) => {
        if (changed.has("chosen") || changed.has("node")) tell();
      });
    }

    function tell(): void {
      model.set("rows", shown?.rows() ?? []);
      model.save_changes();
    }

    async function renew(): Promise<void> {
      asked += 1;
      const mine = asked;
      const packed = model.get("recording") as DataView;
      if (!packed?.byteLength) {
        if (!shown) root.replaceChildren(element("p", { class: "nothing", text: String(model.get("told")) }));
        return;
      }
      const text = await unpacked(packed);
      if (mine === asked && !ending.signal.aborted) show(read(text));
    }

    const dressed = new MutationObserver(() => shown?.store.change({ theme: groundOf(host) }));
    for (const each of [document.documentElement, document.body]) dressed.observe(each, { attributes: true });
    model.on("change:recording", renew);
    model.on("change:told", renew);
    void renew();

    return () => {
      ending.abort();
      dressed.disconnect();
      model.off("change:recording", renew);
      model.off("change:told", renew);
    };
  },
};

function unpacked(packed: DataView): Promise<string> {
  const stream = new Blob([packed as DataView<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
