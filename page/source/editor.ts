/** An editor that shows the page in a view of its own: both tell each other where one stands. */

import { read } from "./recording";
import type { View } from "./view";

interface Editor {
  /** The row that a person has gone to; without one, that the page can be told of things from now on. */
  postMessage(message: { row?: number }): void;
}

/** What an editor tells: the recording as far as it goes now, the row where one stands. */
interface Told {
  recording?: string;
  row?: number;
}

/** Does nothing where no editor shows the page. */
export function followEditor(shown: View): void {
  const editor = (globalThis as { acquireVsCodeApi?: () => Editor }).acquireVsCodeApi?.();
  if (!editor) return;
  let isTold = false;

  addEventListener("message", ({ data }: MessageEvent<Told>) => {
    isTold = true;
    if (data.recording !== undefined) shown.grow(read(data.recording));
    if (data.row !== undefined) shown.standAt(data.row);
    isTold = false;
  });
  shown.store.listen((changed) => {
    const { recording, section, now, isPlaying } = shown.store.state;
    const node = recording.nodesOf[section]?.[now];
    if (changed.has("now") && !isTold && !isPlaying && node !== undefined) {
      editor.postMessage({ row: recording.nodes.row[node]! });
    }
  });

  const dress = () => {
    const kind = document.body.dataset.vscodeThemeKind ?? "";
    shown.store.change({ theme: kind.includes("light") ? "light" : "dark" });
  };
  new MutationObserver(dress).observe(document.body, { attributes: true, attributeFilter: ["data-vscode-theme-kind"] });
  dress();
  editor.postMessage({});
}
