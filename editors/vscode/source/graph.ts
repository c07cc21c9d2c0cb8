/** The graph of a session beside the editor: the page that `graphscope export` writes, which follows and leads. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { asked } from "./commands";
import type { Position, Positions } from "./positions";

const RECORDING = /<script[^>]*id="recording"[^>]*>([\s\S]*?)<\/script>/;

/** A page that is open, and what it shows. */
interface Shown {
  panel: vscode.WebviewPanel;
  /** Where the session stands. */
  position: Position;
  /** The end of the log when its graph was drawn last. */
  end: number;
}

/** Shows the graphs of sessions, one panel for each. */
export class Graphs implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();

  constructor(positions: Positions) {
    positions.onMove(({ session, position }) => {
      const shown = this.shown.get(session.id);
      if (!shown || !position) return;
      shown.position = position;
      void follow(session, shown);
    });
  }

  async show(): Promise<void> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== "graphscope") {
      throw new Error("no program waits; F5 starts one, and Open Recording opens one that has run.");
    }
    const known = this.shown.get(session.id);
    if (known) return known.panel.reveal();
    const position: Position = await session.customRequest("graphscope/position");
    const panel = vscode.window.createWebviewPanel(
      "graphscope.graph",
      `graph: ${session.name.replace(/^graphscope: /, "")}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true },
    );
    const shown = { panel, position, end: position.end };
    this.shown.set(session.id, shown);
    panel.onDidDispose(() => this.shown.delete(session.id));
    panel.webview.onDidReceiveMessage(({ row }: { row?: number }) =>
      row === undefined ? follow(session, shown) : goTo(session, row),
    );
    panel.webview.html = await pageOf(session, position);
  }

  dispose(): void {
    for (const { panel } of this.shown.values()) panel.dispose();
  }
}

/** Stand where the session stands, in a graph that knows as much as it does. */
async function follow(session: vscode.DebugSession, shown: Shown): Promise<void> {
  const { position } = shown;
  const isNew = shown.end !== position.end;
  shown.end = position.end;
  const recording = isNew ? { recording: RECORDING.exec(await pageOf(session, position))?.[1] } : {};
  await shown.panel.webview.postMessage({ ...recording, row: position.now });
}

async function pageOf(session: vscode.DebugSession, position: Position): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "graphscope-"));
  const page = join(folder, "page.html");
  try {
    const near = session.workspaceFolder?.uri ?? vscode.Uri.file(position.log);
    await asked(["export", position.log, "-o", page, "--json"], near);
    return await readFile(page, "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function goTo(session: vscode.DebugSession, row: number): Promise<void> {
  await session.customRequest("evaluate", { expression: `:goto ${row}`, context: "repl" });
}
