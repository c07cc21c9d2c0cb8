/** Names in the source with their values in the frame where one stands, beside the line. */

import * as vscode from "vscode";

const NAME = /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;
const OTHER = /(["'])(?:\\.|(?!\1).)*\1|#.*$/g;
const IMPORT = /^\s*(import|from)\b/;
const KEYWORDS = new Set(
  (
    "and as assert async await break class continue def del elif else except False finally for from global if import " +
    "in is lambda None nonlocal not or pass raise return True try while with yield"
  ).split(" "),
);

export const inlineValues: vscode.InlineValuesProvider = {
  provideInlineValues(document, viewPort, context) {
    if (vscode.debug.activeDebugSession?.type !== "graphscope") return [];
    const last = Math.min(viewPort.end.line, context.stoppedLocation.end.line);
    const first = Math.max(viewPort.start.line, beginOfFunction(document, last));
    const found: vscode.InlineValue[] = [];
    for (let line = first; line <= last; line++) {
      const written = document.lineAt(line).text;
      if (IMPORT.test(written)) continue;
      const text = written.replace(OTHER, (cut) => " ".repeat(cut.length));
      for (const match of text.matchAll(NAME)) {
        const name = match[0];
        if (KEYWORDS.has(name) || text[match.index + name.length] === "(") continue;
        const range = new vscode.Range(line, match.index, line, match.index + name.length);
        found.push(
          name.includes(".")
            ? new vscode.InlineValueEvaluatableExpression(range, name)
            : new vscode.InlineValueVariableLookup(range, name, true),
        );
      }
    }
    return found;
  },
};

/** The first line of the function that a line is in: names above it are those of other frames. */
function beginOfFunction(document: vscode.TextDocument, line: number): number {
  const indent = (number: number) => document.lineAt(number).firstNonWhitespaceCharacterIndex;
  let least = indent(line);
  for (let number = line; number >= 0; number--) {
    const { text, isEmptyOrWhitespace } = document.lineAt(number);
    if (isEmptyOrWhitespace) continue;
    if (/^\s*(async\s+)?def\b/.test(text) && (indent(number) < least || number === line)) return number;
    least = Math.min(least, indent(number));
  }
  return 0;
}
