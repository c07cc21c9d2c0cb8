/** In the status bar: that graphscope is there, and in a session where in time one stands. */

import * as vscode from "vscode";
import type { Position, Positions } from "./positions";

interface Shown {
  text: string;
  tooltip: string;
  command: string | vscode.Command;
}

const AT_REST: Shown = {
  text: "$(type-hierarchy) graphscope",
  tooltip: "Record this file, open a recording, ask what is wrong",
  command: { title: "graphscope", command: "workbench.action.quickOpen", arguments: [">graphscope: "] },
};

const IN_SESSION: Omit<Shown, "text"> = {
  tooltip: "Where in time you stand. Step Back and Reverse walk the past; a click shows the graph.",
  command: "graphscope.graph",
};

export function badge(positions: Positions): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("graphscope.time", vscode.StatusBarAlignment.Left, 1000);
  item.name = "graphscope";
  const show = (shown: Shown) => Object.assign(item, shown);
  const following = positions.onMove(({ session, position }) => {
    if (position === null) show(AT_REST);
    else if (session !== vscode.debug.activeDebugSession) return;
    else show({ ...IN_SESSION, text: position ? textOf(position) : "$(debug-continue) graphscope runs" });
  });
  show(AT_REST);
  item.show();
  return vscode.Disposable.from(item, following);
}

/** `PAST backward #10 of #51`. */
function textOf({ now, edge, end, stop }: Position): string {
  const isPast = edge === null || now < edge;
  const when = isPast ? "$(history) PAST" : "$(circle-filled) LIVE";
  const where = end > 0 ? `#${Math.min(now, end - 1)} of #${end - 1}` : "";
  return [when, stop?.node?.graph_pass, where].filter(Boolean).join(" ");
}
