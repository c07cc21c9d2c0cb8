/** Loss and gradient norm over the training steps; a click goes to a step. */

import { element, svg } from "./dom";
import { short } from "./numbers";
import type { Section } from "./recording";

const WIDE = 220;
const HIGH = 40;

export function curves(sections: Section[], shown: number, go: (section: number) => void): HTMLElement | null {
  const steps = sections.map((section, place) => ({ section, place })).filter(({ section }) => section.is_step);
  if (steps.length < 2) return null;
  const x = (place: number) => 5 + (place / (steps.length - 1)) * (WIDE - 10);
  const drawn = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "curves", preserveAspectRatio: "none" });
  const at = steps.findIndex(({ place }) => place === shown);
  if (at >= 0) drawn.append(svg("line", { x1: x(at), x2: x(at), y1: 0, y2: HIGH, class: "here" }));
  for (const name of ["norm", "loss"] as const) {
    const told = steps.map(({ section }) => section[name]);
    const known = told.filter((value): value is number => value !== null);
    if (known.length < 2) continue;
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const y = (value: number) => HIGH - 5 - ((value - low) / (high - low || 1)) * (HIGH - 10);
    const points = told.flatMap((value, place) => (value === null ? [] : [`${x(place)},${y(value)}`]));
    drawn.append(svg("polyline", { points: points.join(" "), class: name, "vector-effect": "non-scaling-stroke" }));
    const here = told[at];
    if (at >= 0 && here !== null && here !== undefined)
      drawn.append(svg("circle", { cx: x(at), cy: y(here), r: 3, class: name }));
  }
  drawn.addEventListener("click", (event) => {
    const share = (event.offsetX / drawn.clientWidth) * WIDE;
    const place = Math.round(((share - 5) / (WIDE - 10)) * (steps.length - 1));
    go(steps[Math.min(Math.max(place, 0), steps.length - 1)]!.place);
  });
  const { loss, norm } = sections[shown]!;
  const facts = [loss === null ? null : fact("loss", short(loss)), norm === null ? null : fact("norm", short(norm))];
  return element("div", { class: "course" }, drawn as unknown as Node, element("div", { class: "facts" }, ...facts));
}

function fact(name: string, value: string): HTMLElement {
  const what = name === "norm" ? "‖∇‖" : name;
  return element(
    "span",
    { class: name, title: name === "norm" ? "the 2-norm of all gradients of parameters" : "the loss" },
    `${what} `,
    element("b", { text: value }),
  );
}
