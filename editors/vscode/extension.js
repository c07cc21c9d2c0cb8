// Registers the adapter, `python -m graphscope dap`, spoken to over its standard streams; says what is missing.
"use strict";
const { execFile } = require("child_process");
const vscode = require("vscode");

const THIS_FILE = { type: "graphscope", request: "launch", name: "graphscope: this file", program: "${file}", stopOnEntry: true };

function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("graphscope", { createDebugAdapterDescriptor }),
    vscode.debug.registerDebugConfigurationProvider("graphscope", { provideDebugConfigurations, resolveDebugConfiguration }),
  );
}

// Without a launch.json there is no configuration: the file in the editor is meant.
function resolveDebugConfiguration(folder, configuration) {
  if (configuration.type || configuration.request) {
    return configuration;
  }
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "python") {
    vscode.window.showErrorMessage("graphscope: open the Python file that is to be run, or write a launch.json.");
    return undefined;
  }
  return { ...THIS_FILE, ...(folder ? { cwd: folder.uri.fsPath } : {}) };
}

function provideDebugConfigurations() {
  return [{ ...THIS_FILE, cwd: "${workspaceFolder}" }];
}

async function createDebugAdapterDescriptor(session) {
  const python = await pythonOf(session);
  const problem = await problemOf(python);
  if (problem) {
    const choice = await vscode.window.showErrorMessage(problem, "Open settings");
    if (choice) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "graphscope.python");
    }
    throw new Error(problem);
  }
  return new vscode.DebugAdapterExecutable(python, ["-m", "graphscope", "dap"]);
}

// The Python that is set for graphscope, else the one that is chosen in the editor, else the one on the PATH.
async function pythonOf(session) {
  const folder = session.workspaceFolder;
  const set = vscode.workspace.getConfiguration("graphscope", folder).get("python");
  if (set) {
    return set;
  }
  const extension = vscode.extensions.getExtension("ms-python.python");
  const python = extension && (extension.isActive ? extension.exports : await extension.activate());
  const chosen = python?.environments?.getActiveEnvironmentPath(folder?.uri);
  return chosen?.path || (process.platform === "win32" ? "python" : "python3");
}

// Why graphscope can't be run by a Python, in one sentence; nothing where it can.
function problemOf(python) {
  return new Promise((resolve) => {
    execFile(python, ["-c", "import graphscope"], (error, _, said) => {
      if (!error) {
        resolve("");
      } else if (error.code === "ENOENT") {
        resolve(`graphscope: there is no ${python}; set graphscope.python to the Python that has graphscope.`);
      } else if (said.includes("No module named 'graphscope'")) {
        resolve(`graphscope is not installed for ${python}: run ${python} -m pip install graphscope-debugger, or set graphscope.python.`);
      } else {
        resolve(`graphscope can't be loaded by ${python}: ${said.trim().split("\n").pop()}`);
      }
    });
  });
}

module.exports = { activate, deactivate() {} };
