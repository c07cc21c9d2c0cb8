/** How a session begins: what is run when nobody wrote a launch.json, and the adapter that runs it. */

import * as vscode from "vscode";
import { readyPython } from "./python";

const THIS_FILE = {
  type: "graphscope",
  request: "launch",
  name: "graphscope: this file",
  program: "${file}",
  stopOnEntry: true,
};

export const configurations: vscode.DebugConfigurationProvider = {
  provideDebugConfigurations: () => [{ ...THIS_FILE, cwd: "${workspaceFolder}" }],

  resolveDebugConfiguration(folder, configuration) {
    if (configuration.type || configuration.request) {
      return configuration.request === "launch" ? { ...cwdOf(folder), ...configuration } : configuration;
    }
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "python") {
      vscode.window.showErrorMessage("graphscope: open the Python file that is to be run, or write a launch.json.");
      return undefined;
    }
    const own = vscode.workspace.getWorkspaceFolder(editor.document.uri) ?? folder;
    const found = { ...cwdOf(own), ...THIS_FILE };
    if (own === folder) return found;
    void vscode.debug.startDebugging(own, found); // of several folders, the editor may have taken another one
    return undefined;
  },
};

/** Where a program runs unless its configuration says so. */
function cwdOf(folder: vscode.WorkspaceFolder | undefined): { cwd?: string } {
  return folder ? { cwd: folder.uri.fsPath } : {};
}

export const adapters: vscode.DebugAdapterDescriptorFactory = {
  async createDebugAdapterDescriptor(session) {
    const python = await readyPython(session.workspaceFolder);
    return new vscode.DebugAdapterExecutable(python, ["-m", "graphscope", "dap"]);
  },
};
