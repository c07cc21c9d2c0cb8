// The part of the editor that the extension speaks to, as its documentation describes it.
const Module = require("module");
const [extension, python, chosen, language] = process.argv.slice(2);
const shown = [], registered = {};
const vscode = {
  DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => { registered.factory = factory; },
    registerDebugConfigurationProvider: (type, provider) => { registered.provider = provider; },
  },
  commands: { executeCommand: async () => {} },
  extensions: {
    getExtension: () => chosen && {
      isActive: true,
      exports: { environments: { getActiveEnvironmentPath: () => ({ path: chosen }) } },
    },
  },
  window: {
    activeTextEditor: language && { document: { languageId: language } },
    showErrorMessage: async (text) => { shown.push(text); },
  },
  workspace: { getConfiguration: () => ({ get: () => python }) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
(async () => {
  require(extension).activate({ subscriptions: [] });
  const folder = { uri: { fsPath: "/work" } };
  const told = { shown, resolved: registered.provider.resolveDebugConfiguration(folder, {}) || null };
  told.given = registered.provider.resolveDebugConfiguration(folder, { type: "graphscope", request: "attach", log: "a" });
  try {
    told.adapter = await registered.factory.createDebugAdapterDescriptor({ workspaceFolder: folder });
  } catch (error) {
    told.error = error.message;
  }
  console.log(JSON.stringify(told));
})();
