/** The bar above: what is shown, the search, and what changes the view. */

import { button, element } from "./dom";

export interface Header {
  bar: HTMLElement;
  search: HTMLInputElement;
  /** Says which of how many matches one stands at. */
  count(place: number, of: number): void;
}

interface Deeds {
  typed(query: string): void;
  match(by: number): void;
  left(): void;
  openAll(): void;
  closeAll(): void;
  fit(): void;
  theme(): void;
  help(): void;
}

export function header(title: string, deeds: Deeds): Header {
  const search = element("input", {
    type: "search",
    placeholder: "Search  /",
    "aria-label": "Search",
    spellcheck: "false",
  });
  const found = element("output", { class: "found" });
  search.addEventListener("input", () => deeds.typed(search.value));
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") deeds.match(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") deeds.left();
  });
  const bar = element(
    "header",
    { class: "head" },
    element("h1", { text: title }),
    element("div", { class: "search" }, search, found),
    element(
      "div",
      { class: "tools" },
      button("open", "Open one level more (e)", deeds.openAll),
      button("close", "Close all modules (c)", deeds.closeAll),
      button("fit", "The whole picture (0)", deeds.fit),
      button("theme", "Light or dark (t)", deeds.theme),
      button("help", "Keys (?)", deeds.help),
    ),
  );
  return {
    bar,
    search,
    count(place, of) {
      found.textContent = search.value ? (of ? `${place + 1} / ${of}` : "nothing") : "";
    },
  };
}
