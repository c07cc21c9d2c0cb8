/** graphscope's own commands, run by the Python of a folder. */

import { execFile } from "node:child_process";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { readyPython } from "./python";

const MOST_BYTES = 1 << 28;

/** What a command prints as data; its exit status 1 means that something was found. */
export async function asked<Answer>(words: string[], near: vscode.Uri): Promise<Answer> {
  const folder = vscode.workspace.getWorkspaceFolder(near);
  const python = await readyPython(folder);
  const settings = { cwd: folder?.uri.fsPath ?? dirname(near.fsPath), maxBuffer: MOST_BYTES };
  return new Promise((resolve, reject) => {
    execFile(python, ["-m", "graphscope", ...words], settings, (error, printed, said) => {
      if (printed) resolve(JSON.parse(printed));
      else reject(new Error(said.trim() || error?.message || "nothing was answered"));
    });
  });
}

/** Run a command in a terminal; its exit status. */
export async function inTerminal(name: string, words: string[], near: vscode.Uri): Promise<number | undefined> {
  const folder = vscode.workspace.getWorkspaceFolder(near);
  const python = await readyPython(folder);
  const run = new vscode.ProcessExecution(python, ["-m", "graphscope", ...words], {
    cwd: folder?.uri.fsPath ?? dirname(near.fsPath),
  });
  const scope = folder ?? vscode.TaskScope.Workspace;
  const started = await vscode.tasks.executeTask(
    new vscode.Task({ type: "graphscope" }, scope, name, "graphscope", run),
  );
  return new Promise((resolve) => {
    const ended = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== started) return;
      ended.dispose();
      resolve(event.exitCode);
    });
  });
}
