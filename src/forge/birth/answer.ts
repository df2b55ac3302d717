import { isKitbagError, toFailure, type KitbagError } from "../../core/errors.ts";
import type { ExampleResult, ForgeDiagnostic, RefusedTool } from "../forge-interface.ts";
import { findAdvice, findBuildAdvice } from "./find-advice.ts";
import { describeExample } from "./run-examples.ts";

/** Makes the answer to a draft that did not pass. */
export function refuseDraft(
  name: string,
  diagnostics: readonly ForgeDiagnostic[],
  examples: readonly ExampleResult[] = [],
): RefusedTool {
  const reasons = toReasons(diagnostics);
  return { status: "refused", name, error: toFailure("draft-refused", { name, reasons }), diagnostics, examples };
}

/** What diagnostics say, each with its cure. */
export function toReasons(diagnostics: readonly ForgeDiagnostic[]): readonly string[] {
  return diagnostics.map(({ message, cure }) =>
    cure === undefined ? message : `${message}${message.includes("\n") ? "\n→ " : "; "}${cure}`,
  );
}

/** Makes the answer to an edit that cannot be made. */
export function refuseWith(name: string, cause: KitbagError): RefusedTool {
  const diagnostic = { severity: "error", code: cause.code, message: cause.message, file: "draft" } as const;
  const error = cause.toJSON();
  return { status: "refused", name, error, diagnostics: [diagnostic], examples: [] };
}

/** Makes the answer to who wants a version back that is laxer: only a person does that. */
export function refuseLaxer(name: string, version: string, laxer: readonly string[]): RefusedTool {
  const message = `version ${version} asks for what the one of now does not: ${laxer.join("; ")}; a person brings it back, with: kitbag rollback ${name} ${version}`;
  return refuseDraft(name, [{ severity: "error", code: "version-laxer", message, file: "draft" }]);
}

/** Makes the answer to a draft some of whose examples did not pass. */
export function refuseExamples(name: string, examples: readonly ExampleResult[]): RefusedTool {
  const failed = examples.filter((one) => !one.passed);
  const head: ForgeDiagnostic = {
    severity: "error",
    code: "example-failed",
    message: `${failed.length} of ${examples.length} examples did not pass, so it is not live`,
    file: "draft",
  };
  const shown = failed.slice(0, mostShown).map((one): ForgeDiagnostic => ({
    severity: "error",
    code: "example-failed",
    message: adviseExample(one),
    file: "draft",
  }));
  return refuseDraft(name, [head, ...shown], examples);
}

/** Says what went wrong with an example of a draft, and what to change in the draft. */
export function adviseExample(result: ExampleResult): string {
  const advice = findAdvice(result);
  if (advice === undefined) return describeExample(result);
  const { error } = result;
  // What the runtime advises is for folders with files of their own.
  const hint = (error?.details as { readonly hint?: string } | undefined)?.hint;
  const said = error === undefined ? result : { ...result, error: { ...error, message: without(error.message, hint) } };
  return `${describeExample(said)}\n  → ${advice}`;
}

function without(message: string, hint: string | undefined): string {
  return hint === undefined ? message : message.replace(`\n→ ${hint}`, "");
}

const mostShown = 5;

/** What a failure while a draft was built or checked says to its author; anything else is thrown on. */
export function toDiagnostics(cause: unknown): readonly ForgeDiagnostic[] {
  if (!isKitbagError(cause)) throw cause;
  const cure = findBuildAdvice(cause);
  const base = { severity: "error", code: cause.code, file: "draft", ...(cure !== undefined && { cure }) } as const;
  if (!isKitbagError(cause, "build-failed")) return [{ ...base, message: cause.message }];
  const { source, lines } = cause.details;
  const [, line, column] = /:(\d+)(?::(\d+))?/u.exec(lines.find((one) => one.includes(source)) ?? "") ?? [];
  const place = {
    ...(line !== undefined && { line: Number(line) }),
    ...(column !== undefined && { column: Number(column) }),
  };
  return [{ ...base, message: cause.message, file: source, ...place }];
}

/** What is told of an edit that changes nothing. */
export const nothingChanged: ForgeDiagnostic = {
  severity: "info",
  code: "draft-same",
  message: "Nothing is different from the version that is live, so no version was made",
  file: "draft",
};
