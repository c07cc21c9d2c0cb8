// Registers the adapter: `python -m graphscope dap`, spoken to over its standard streams.
"use strict";
const vscode = require("vscode");

function activate(context) {
  const factory = {
    createDebugAdapterDescriptor(session) {
      const python = vscode.workspace.getConfiguration("graphscope", session.workspaceFolder).get("python", "python3");
      return new vscode.DebugAdapterExecutable(python, ["-m", "graphscope", "dap"]);
    },
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("graphscope", factory));
}

module.exports = { activate, deactivate() {} };
