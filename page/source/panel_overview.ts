/** The panel where nothing is chosen: what is wrong with the run, and how the picture is read. */

import { element } from "./dom";
import { counted } from "./numbers";
import { findingsPart, type Guide, type Part, titled } from "./panel_parts";
import type { Recording } from "./recording";

export function overview(recording: Recording, guide: Guide): Part[] {
  const steps = recording.sections.filter((section) => section.is_step).length;
  return [
    element("h2", { text: recording.title }),
    element("p", {
      class: "muted",
      text: [counted(recording.count, "node"), steps ? counted(steps, "training step") : ""].filter(Boolean).join(", "),
    }),
    findingsPart(recording, [...recording.findings.keys()], guide),
    titled(
      "How to read it",
      legend("forward", "an op of the forward pass: what it computes flows down the grey lines"),
      legend("backward", "∂: the rule that takes its gradient back, up the orange lines"),
      legend("leaf", "what comes from outside; parameters stand on the ops that take them"),
      legend("update", "the loss, and what the optimizer does"),
      element("p", {
        class: "muted",
        text: "Click a box to see its value, gradient, line and formula; double-click or Enter opens a module. Space plays both passes, / searches, ? shows all keys.",
      }),
    ),
  ];
}

function legend(kind: string, text: string): HTMLElement {
  return element("p", { class: "legend" }, element("i", { class: kind }), text);
}
