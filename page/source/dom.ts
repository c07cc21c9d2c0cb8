/** Elements with text from programs: it is always text, never markup. */

type Child = Node | string | null | undefined | false;

interface Given {
  class?: string;
  title?: string;
  text?: string;
  click?: (event: MouseEvent) => void;
  [attribute: string]: unknown;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  given: Given = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === false) continue;
    if (key === "text") made.textContent = String(value);
    else if (key === "click") made.addEventListener("click", value as EventListener);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child): child is Node | string => Boolean(child)));
  return made;
}

export function svg(name: string, given: Record<string, string | number> = {}, ...children: Node[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

const ICONS = {
  play: "M5 3.2v9.6l8-4.8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3.5 10 8l-6 4.5zM11 3.5h1.8v9H11z",
  previous: "M12 3.5 6 8l6 4.5zM5 3.5H3.2v9H5z",
  first: "M13 3.5 8.5 8l4.5 4.5zM8 3.5 3.5 8 8 12.5zM3 3.5H1.6v9H3z",
  last: "M3 3.5 7.5 8 3 12.5zM8 3.5 12.5 8 8 12.5zM13 3.5h1.4v9H13z",
  fit: "M2 2h4v1.6H3.6V6H2zM10 2h4v4h-1.6V3.6H10zM2 10h1.6v2.4H6V14H2zM12.4 10H14v4h-4v-1.6h2.4z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z",
  help: "M7.2 10.2h1.7v1.7H7.2zM8.1 3.8c1.7 0 2.9 1 2.9 2.4 0 1.9-2.1 2-2.1 3.4H7.3c0-2 2-2.3 2-3.3 0-.6-.5-1-1.2-1s-1.3.5-1.4 1.3L5.100 6.400C5.300 4.800 6.400 3.800 8.100 3.800z",
  open: "M8 2.500 11.500 6H9v4h2.500L8 13.500 4.500 10H7V6H4.500z",
  close: "M8 7 4.500 3.500H7V0h2v3.500h2.500zM8 9l3.500 3.500H9V16H7v-3.500H4.500z",
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGElement {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

export function button(name: IconName, title: string, click: () => void, kind = ""): HTMLButtonElement {
  return element("button", { class: `tool ${kind}`, title, "aria-label": title, click, type: "button" }, icon(name));
}
