// The whole life of a session, driven by the client that VS Code's own debug adapters are tested with.
// node life.js PYTHON FOLDER_OF_SAMPLES [PORT TOKEN]; prints one line of JSON.
"use strict";
const assert = require("assert");
const path = require("path");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [python, samples, port, token] = process.argv.slice(2);
const program = path.join(samples, "rnn_cell.py");
const client = new DebugClient(python, path.join(__dirname, "adapter.py"), "graphscope");
client.defaultTimeout = 60000;
const thread = { threadId: 1 };

async function top() {
  const { body } = await client.stackTraceRequest(thread);
  return body.stackFrames[0];
}

async function scopes() {
  const { body } = await client.scopesRequest({ frameId: (await top()).id });
  return Object.fromEntries(body.scopes.map((scope) => [scope.name, scope.variablesReference]));
}

async function variables(variablesReference, more) {
  const { body } = await client.variablesRequest({ variablesReference, ...more });
  return Object.fromEntries(body.variables.map((variable) => [variable.name, variable]));
}

async function moved(asked) {
  const stopped = client.waitForEvent("stopped");
  await asked;
  return (await stopped).body;
}

async function life() {
  const seen = {};
  await client.start(port ? Number(port) : undefined);
  const initialized = client.waitForEvent("initialized");
  const { body: capabilities } = await client.initializeRequest();
  assert(capabilities.supportsStepBack && capabilities.supportsFunctionBreakpoints);
  let output = "";
  client.on("output", (event) => (output += event.body.output));

  await client.launchRequest({ program, token, granularity: "node" });
  await initialized;
  await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "op:tanh backward" }] });
  const lines = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 14, condition: "forward" }] });
  assert(lines.body.breakpoints[0].verified);
  await client.setExceptionBreakpointsRequest({ filters: ["uncaught"] });
  const first = await moved(client.configurationDoneRequest());
  assert.strictEqual(first.reason, "breakpoint");
  seen.line = (await top()).line;

  seen.forward = (await moved(client.continueRequest(thread))).description;
  assert.strictEqual(seen.forward.includes("tanh"), true);
  const stopped = await moved(client.continueRequest(thread));
  assert.strictEqual(stopped.reason, "function breakpoint");
  seen.stack = (await client.stackTraceRequest(thread)).body.stackFrames.map((frame) => frame.line);

  const here = await scopes();
  const gradient = (await variables(here.Gradient)).grad;
  assert.strictEqual(gradient.indexedVariables, 20);
  const page = await variables(gradient.variablesReference, { filter: "indexed", start: 5, count: 3 });
  assert.deepStrictEqual(Object.keys(page), ["[5]", "[6]", "[7]"]);
  const changed = await client.setVariableRequest({ variablesReference: here.Gradient, name: "grad", value: "grad * 0" });
  seen.changed = changed.body.value;
  assert((await variables(here.Locals)).loss);

  seen.back = (await moved(client.stepBackRequest(thread))).description;
  seen.reversed = (await moved(client.reverseContinueRequest(thread))).description;
  seen.evaluated = (await client.evaluateRequest({ expression: "value.shape", context: "watch" })).body.result;
  await moved(client.continueRequest(thread));
  const terminated = client.waitForEvent("terminated");
  await client.continueRequest(thread);
  await terminated;
  seen.output = output;
  await client.disconnectRequest();
  return seen;
}

life().then(
  (seen) => {
    console.log(JSON.stringify(seen));
    process.exit(0);
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
