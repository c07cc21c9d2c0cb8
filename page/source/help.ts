/** The keys, as the table has them. */

import { element } from "./dom";
import { KEYS } from "./keys";

export function help(close: () => void): HTMLElement {
  const rows = KEYS.map((row) =>
    element("div", { class: "key" }, element("kbd", { text: row.shown }), element("span", { text: row.told })),
  );
  const card = element(
    "div",
    { class: "card", role: "dialog", "aria-label": "Keys" },
    element("h2", { text: "Keys" }),
    element("div", { class: "keys" }, ...rows),
    element("p", {
      class: "muted",
      text: "Drag to move, turn the wheel to come closer, double-click a module to open or close it.",
    }),
  );
  const made = element("div", { class: "help", click: close }, card);
  return made;
}
