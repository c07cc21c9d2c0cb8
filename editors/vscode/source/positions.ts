/** Where in time each session stands: asked once at each stop, told to all who show it. */

import * as vscode from "vscode";

export interface Position {
  log: string;
  now: number;
  end: number;
  /** The row that the program waits at; null where none waits. */
  edge: number | null;
  stop: { node: { row: number; graph_pass: string } | null } | null;
}

/** A session, and where it stands: undefined while its program runs, null when it is over. */
export interface Moved {
  session: vscode.DebugSession;
  position: Position | undefined | null;
}

export class Positions implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<Moved>();
  readonly onMove = this.emitter.event;

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const fire = (position: Moved["position"]) => this.emitter.fire({ session, position });
    return {
      onDidSendMessage: async (message: { type: string; event?: string }) => {
        if (message.type !== "event") return;
        if (message.event === "continued") fire(undefined);
        if (message.event === "stopped") fire(await session.customRequest("graphscope/position"));
      },
      onWillStopSession: () => fire(null),
    };
  }

  dispose(): void {
    this.emitter.dispose();
  }
}
