/** The Python of a folder, and whether graphscope is there. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

const PACKAGE = "graphscope-debugger";
const WINDOWS = process.platform === "win32";
const OWN = WINDOWS ? join("Scripts", "python.exe") : join("bin", "python");
const VIRTUAL = [".venv", "venv", "env"];

/** Where a Python may be named, the most explicit first; each answers with a path, or nothing. */
const NAMED: ((folder: vscode.WorkspaceFolder | undefined) => Promise<string | undefined> | string | undefined)[] = [
  (folder) => setting("graphscope", "python", folder),
  chosenInEditor,
  (folder) => setting("python", "defaultInterpreterPath", folder),
  (folder) => folder && VIRTUAL.map((name) => join(folder.uri.fsPath, name, OWN)).find((python) => existsSync(python)),
];

/** The Python that is set for graphscope, that is chosen in the editor, of the folder, or on the PATH. */
export async function pythonOf(folder: vscode.WorkspaceFolder | undefined): Promise<string> {
  for (const named of NAMED) {
    const python = await named(folder);
    if (python) return python.replace("${workspaceFolder}", folder?.uri.fsPath ?? "");
  }
  return WINDOWS ? "python" : "python3";
}

function setting(section: string, name: string, folder: vscode.WorkspaceFolder | undefined): string | undefined {
  const found = vscode.workspace.getConfiguration(section, folder).get<string>(name);
  return found === "python" ? undefined : found; // the Python extension's word for "none was chosen"
}

/** What the Python extension has chosen, where it is there. */
async function chosenInEditor(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension("ms-python.python");
  if (!extension) return undefined;
  const python = extension.isActive ? extension.exports : await extension.activate();
  const environment = python?.environments?.getActiveEnvironmentPath(folder?.uri);
  const resolved = environment && (await python.environments.resolveEnvironment?.(environment));
  return resolved?.executable?.uri?.fsPath ?? environment?.path;
}

/** A Python that has graphscope: the one of a folder, where it is missing after having offered to install it. */
export async function readyPython(folder: vscode.WorkspaceFolder | undefined, given?: string): Promise<string> {
  const python = given || (await pythonOf(folder));
  for (;;) {
    const problem = await problemOf(python);
    if (!problem) return python;
    const choices = problem.installable ? ["Install", "Settings"] : ["Settings"];
    const choice = await vscode.window.showErrorMessage(problem.text, ...choices);
    if (choice === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "graphscope.python");
    }
    if (choice !== "Install") throw new vscode.CancellationError();
    await install(python);
  }
}

interface Problem {
  text: string;
  installable: boolean;
}

/** Why graphscope can't be run by a Python; nothing where it can. */
function problemOf(python: string): Promise<Problem | undefined> {
  return new Promise((resolve) => {
    execFile(python, ["-c", "import graphscope"], (error, _, said) => {
      const problem = (text: string, installable = false) => resolve({ text: `graphscope: ${text}`, installable });
      if (!error) resolve(undefined);
      else if (error.code === "ENOENT") problem(`there is no Python ${python}; choose another.`);
      else if (said.includes("No module named 'graphscope'")) problem(`it is not installed for ${python}.`, true);
      else problem(`${python} can't load it: ${said.trim().split("\n").pop()}`);
    });
  });
}

/** Install graphscope, in a terminal where all that pip says can be read. */
async function install(python: string): Promise<void> {
  const run = new vscode.ProcessExecution(python, ["-m", "pip", "install", PACKAGE]);
  const task = new vscode.Task({ type: "graphscope" }, vscode.TaskScope.Workspace, "install", "graphscope", run);
  const started = await vscode.tasks.executeTask(task);
  await new Promise<void>((resolve) => {
    const ended = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== started) return;
      ended.dispose();
      resolve();
    });
  });
}
