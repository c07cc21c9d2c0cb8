/** Recordings of the workspace: making one, choosing one, stepping through it. */

import { basename } from "node:path";
import * as vscode from "vscode";
import { inTerminal } from "./commands";

const PATTERN = "**/*.gscope{/log.json,.zip}";

/** Record the file of the editor; the recording, where one was made. */
export async function record(): Promise<vscode.Uri | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "python") {
    vscode.window.showErrorMessage("graphscope: open the Python file that is to be recorded.");
    return undefined;
  }
  await document.save();
  const log = vscode.Uri.file(`${document.fileName.replace(/\.pyw?$/, "")}.gscope`);
  await inTerminal(`record ${basename(document.fileName)}`, ["record", "--log", log.fsPath, document.fileName], log);
  return log;
}

/** The recording that a person chooses among those of the workspace, the newest first. */
export async function chosen(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles(PATTERN);
  const logs = await Promise.all(
    found.map(async (uri) => ({
      log: uri.path.endsWith("/log.json") ? vscode.Uri.joinPath(uri, "..") : uri,
      written: (await vscode.workspace.fs.stat(uri)).mtime,
    })),
  );
  if (!logs.length) {
    vscode.window.showErrorMessage("graphscope: there is no recording in this workspace. Record a file first.");
    return undefined;
  }
  logs.sort((one, other) => other.written - one.written);
  const items = logs.map(({ log, written }) => ({
    label: vscode.workspace.asRelativePath(log),
    description: new Date(written).toLocaleString(),
    log,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: "a recording" }))?.log;
}

/** Step through a recording, as through a program that waits. */
export async function open(): Promise<void> {
  const log = await chosen();
  if (!log) return;
  const name = `graphscope: ${basename(log.fsPath)}`;
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(log), {
    type: "graphscope",
    request: "attach",
    name,
    log: log.fsPath,
  });
}
