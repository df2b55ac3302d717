import { isKitbagError, toFailure } from "../../core/errors.ts";
import type { ExampleResult, ForgeDiagnostic, RefusedTool } from "../forge-interface.ts";
import { describeExample } from "./run-examples.ts";

/** Makes the answer to a draft that did not pass. */
export function refuseDraft(
  name: string,
  diagnostics: readonly ForgeDiagnostic[],
  examples: readonly ExampleResult[] = [],
): RefusedTool {
  const reasons = diagnostics.map(({ message, cure }) => (cure === undefined ? message : `${message}; ${cure}`));
  return { status: "refused", name, error: toFailure("draft-refused", { name, reasons }), diagnostics, examples };
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
    message: describeExample(one),
    file: "draft",
  }));
  return refuseDraft(name, [head, ...shown], examples);
}

const mostShown = 5;

/** What a failure while a draft was built or checked says to its author; anything else is thrown on. */
export function toDiagnostics(cause: unknown): readonly ForgeDiagnostic[] {
  if (!isKitbagError(cause)) throw cause;
  const base = { severity: "error", code: cause.code, file: "draft" } as const;
  if (!isKitbagError(cause, "build-failed")) return [{ ...base, message: cause.message }];
  const { source, lines } = cause.details;
  const [, line, column] = /:(\d+)(?::(\d+))?/u.exec(lines.find((one) => one.includes(source)) ?? "") ?? [];
  const place = {
    ...(line !== undefined && { line: Number(line) }),
    ...(column !== undefined && { column: Number(column) }),
  };
  return [{ ...base, message: cause.message, file: source, ...place }];
}
