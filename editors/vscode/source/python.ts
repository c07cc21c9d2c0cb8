/** The Python of a folder, and whether graphscope is there. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { version } from "../package.json";

const PACKAGE = "graphscope-debugger";
const WINDOWS = process.platform === "win32";
const OWN = WINDOWS ? join("Scripts", "python.exe") : join("bin", "python");
const VIRTUAL = [".venv", "venv", "env"];

const INSTALL = "Install";
const SETTINGS = "Settings";

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
export async function readyPython(folder: vscode.WorkspaceFolder | undefined): Promise<string> {
  const python = await pythonOf(folder);
  for (;;) {
    const found = await look(python);
    if ("version" in found) {
      void compare(python, found.version);
      return python;
    }
    const choices = found.installable ? [INSTALL, SETTINGS] : [SETTINGS];
    const choice = await vscode.window.showErrorMessage(found.problem, ...choices);
    if (choice === SETTINGS) await openSettings();
    if (choice !== INSTALL) throw new vscode.CancellationError();
    await install(python);
  }
}

type Found = { version: string } | { problem: string; installable: boolean };

/** The version of graphscope that a Python has, or why it can't be run by it. */
function look(python: string): Promise<Found> {
  return new Promise((resolve) => {
    execFile(python, ["-c", "import graphscope; print(graphscope.__version__)"], (error, printed, said) => {
      const fail = (text: string, installable = false) => resolve({ problem: `graphscope: ${text}`, installable });
      if (!error) resolve({ version: printed.trim() });
      else if (error.code === "ENOENT") fail(`there is no Python ${python}; choose another.`);
      else if (said.includes("No module named 'graphscope'")) fail(`it is not installed for ${python}.`, true);
      else fail(`${python} can't load it: ${said.trim().split("\n").pop()}`);
    });
  });
}

/** The Pythons of which was said that their graphscope is of another version. */
const told = new Set<string>();

async function compare(python: string, found: string): Promise<void> {
  if (found === version || told.has(python)) return;
  told.add(python);
  const text = `graphscope: ${python} has version ${found}, and the extension is of ${version}: install the same for both.`;
  if (await vscode.window.showWarningMessage(text, SETTINGS)) await openSettings();
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openSettings", "graphscope.python");
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
