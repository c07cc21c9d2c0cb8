/** graphscope in the editor: its debug adapter, its doctor, its recordings. */

import * as vscode from "vscode";
import { badge } from "./badge";
import { judge } from "./doctor";
import { Graphs } from "./graph";
import { inlineValues } from "./inline_values";
import { adapters, configurations } from "./launching";
import { Positions } from "./positions";
import { chosen, open, record } from "./recordings";

const TYPE = "graphscope";

export function activate(context: vscode.ExtensionContext): void {
  const problems = vscode.languages.createDiagnosticCollection(TYPE);
  const positions = new Positions();
  const graphs = new Graphs(positions);
  const commands: Record<string, () => Promise<unknown>> = {
    "graphscope.record": async () => {
      const log = await record();
      if (log) await judge(log, problems);
    },
    "graphscope.open": open,
    "graphscope.graph": () => graphs.show(),
    "graphscope.doctor": async () => {
      const log = await chosen();
      if (log) await judge(log, problems);
    },
  };
  context.subscriptions.push(
    problems,
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
    vscode.debug.registerDebugAdapterTrackerFactory(TYPE, positions),
    positions,
    graphs,
    badge(positions),
    vscode.languages.registerInlineValuesProvider({ language: "python" }, inlineValues),
    ...Object.entries(commands).map(([name, work]) => vscode.commands.registerCommand(name, () => told(work))),
  );
}

/** Do what a command means; what goes wrong is said. */
async function told(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      vscode.window.showErrorMessage(`graphscope: ${error instanceof Error ? error.message : error}`);
    }
  }
}
