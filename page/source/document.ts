/** The page of a file: one view, which the whole window is for. */

import { element } from "./dom";
import { followEditor } from "./editor";
import { followFragment } from "./fragment";
import { read } from "./recording";
import { followPreferred, preferred } from "./theme";
import { view } from "./view";

const NO_CANVAS =
  "This browser lets no page draw on a canvas, which the picture needs. Allow it for this file, open the file in " +
  "another browser, or draw the same with graphscope export -o graph.svg.";

export function openDocument(): void {
  const root = document.body;
  root.classList.add("page");
  if (!element("canvas").getContext("2d")) {
    root.append(element("p", { class: "nothing", text: NO_CANVAS }));
    return;
  }
  const shown = view(read(document.getElementById("recording")!.textContent!), preferred(), {
    root,
    keys: window,
    // In a frame it leaves the wheel to what surrounds it as long as nobody has gone in.
    takesWheel: (event) => window === window.top || event.ctrlKey || document.hasFocus(),
    signal: new AbortController().signal,
  });
  followFragment(shown);
  followEditor(shown);
  followPreferred((theme) => shown.store.change({ theme }));
  Object.assign(window, { graphscope: shown.seen });
}
