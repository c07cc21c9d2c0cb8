/** Whether what a view stands in is light or dark: each notebook says it in another way, its ground can be seen. */

import { preferred, type ThemeName } from "./theme";

export function groundOf(element: Element): ThemeName {
  for (let each: Node | null = element; each; each = parentOf(each)) {
    if (!(each instanceof Element)) continue;
    const [red = 0, green = 0, blue = 0, alpha = 1] = numbersOf(getComputedStyle(each).backgroundColor);
    if (alpha > 0.5) return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "dark" : "light";
  }
  return preferred();
}

function numbersOf(colour: string): number[] {
  return (/^rgba?\((.*)\)$/.exec(colour)?.[1] ?? "0, 0, 0, 0").split(/[\s,/]+/).map(Number);
}

/** The node around a node, out of shadows, too. */
function parentOf(node: Node): Node | null {
  return node instanceof ShadowRoot ? node.host : node.parentNode;
}
