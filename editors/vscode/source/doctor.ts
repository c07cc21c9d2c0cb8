/** What the doctor finds, as problems of the editor at their lines, with what came of them and what to do. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as vscode from "vscode";
import { asked } from "./commands";

interface Finding {
  kind: string;
  severity: "error" | "warning";
  file: string;
  line: number;
  verdict: string;
  cure: string;
  consequences: Finding[];
}

interface Report {
  log: string;
  findings: Finding[];
}

const SEVERITY = { error: vscode.DiagnosticSeverity.Error, warning: vscode.DiagnosticSeverity.Warning };

/** Judge a recording, and show what is wrong. */
export async function judge(log: vscode.Uri, problems: vscode.DiagnosticCollection): Promise<void> {
  const title = `graphscope: judging ${vscode.workspace.asRelativePath(log)}`;
  const report = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    asked<Report>(["doctor", "--json", log.fsPath], log),
  );
  problems.clear();
  const found = new Map<string, vscode.Diagnostic[]>();
  for (const finding of report.findings) {
    const file = placeOf(finding, log);
    found.set(file, [...(found.get(file) ?? []), await diagnosticOf(finding, log)]);
  }
  for (const [file, diagnostics] of found) problems.set(vscode.Uri.file(file), diagnostics);
  if (report.findings.length) await vscode.commands.executeCommand("workbench.actions.view.problems");
  else vscode.window.showInformationMessage(`graphscope: nothing is wrong in ${vscode.workspace.asRelativePath(log)}.`);
}

/** The file of a finding; the recording itself where the program says nothing of it. */
function placeOf(finding: Finding, log: vscode.Uri): string {
  const file = finding.file && resolve(dirname(log.fsPath), finding.file);
  return file && existsSync(file) ? file : log.fsPath;
}

async function diagnosticOf(finding: Finding, log: vscode.Uri): Promise<vscode.Diagnostic> {
  const text = `${finding.verdict}${finding.cure ? `\nCure: ${finding.cure}` : ""}`;
  const found = new vscode.Diagnostic(await rangeOf(finding, log), text, SEVERITY[finding.severity]);
  found.source = "graphscope";
  found.code = finding.kind;
  found.relatedInformation = await Promise.all(
    finding.consequences.map(async (each) => {
      const place = new vscode.Location(vscode.Uri.file(placeOf(each, log)), await rangeOf(each, log));
      return new vscode.DiagnosticRelatedInformation(place, each.verdict);
    }),
  );
  return found;
}

/** The words of a line. */
async function rangeOf(finding: Finding, log: vscode.Uri): Promise<vscode.Range> {
  const file = placeOf(finding, log);
  const line = Math.max(finding.line - 1, 0);
  if (file === log.fsPath) return new vscode.Range(0, 0, 0, 0);
  const document = await vscode.workspace.openTextDocument(file);
  if (line >= document.lineCount) return new vscode.Range(0, 0, 0, 0);
  const { firstNonWhitespaceCharacterIndex: begin, range } = document.lineAt(line);
  return new vscode.Range(line, begin, line, range.end.character);
}
