import { type Failure, isKitbagError, type KitbagError, toFailure } from "../../core/errors.ts";
import type { ExampleResult, ForgeDiagnostic, RefusedTool, ForgeAnswer } from "../forge-interface.ts";
import { describeExample } from "./run-examples.ts";
import type { Tool } from "../../core/tool.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { ownershipOf } from "../owners.ts";
import { findUsers } from "../live/pipelines.ts";

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

/** How interpreters say what is missing, and what a draft says then. The first group is its name. */
const missing: readonly (readonly [pattern: RegExp, advise: (name: string) => string])[] = [
  [
    /ModuleNotFoundError: No module named '([\w-]+)/u,
    (name) => `ask for the package: "dependencies": {"python": ["${name}"]}; or do without it`,
  ],
  [
    /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w.-]+)'/u,
    (name) => `ask for the package: "dependencies": {"npm": ["${name}"]}; or do without it`,
  ],
  [
    /cannot load such file -- ([\w/.-]+)|module '([\w.]+)' not found:|no package called .([\w.]+).|Can't locate ([\w/]+)\.pm/u,
    (name) => `${name} is not there, and packages can be asked for in Python and Node only; do without it`,
  ],
  [
    /environ[\s\S]*KeyError: '([A-Z][A-Z0-9_]*)'/u,
    (name) => `it sees no variable that it does not ask for: "permissions": {"env": ["${name}"]}`,
  ],
  [
    /(?:No such file or directory|ENOENT)[^\n]*['"](\/[^'"\n]{1,200})['"]/u,
    (path) => `it sees no file that it does not ask for: "permissions": {"read": [${JSON.stringify(path)}]}`,
  ],
  [
    /the program ([\w.+-]+) (?:does not exist inside|is not on this machine)/u,
    (name) => `ask for the program: "permissions": {"run": ["${name}"]}`,
  ],
  [/(it may not reach the network)/u, () => 'ask for the hosts: "permissions": {"network": ["api.example.com"]}'],
  [
    /(it may write only to its private folders)/u,
    () => 'ask for the folder: "permissions": {"write": ["./data"]}; or write to /tmp',
  ],
];

/** Says what to change in a draft whose example did not pass; nothing if that is plain or unknown. */
export function findAdvice({ error, expected, got }: ExampleResult): string | undefined {
  if (error === undefined) return adviseDifference(expected, got);
  const { code } = error;
  if (code === "script-failed") return adviseFailed(error);
  if (code === "output-invalid") return adviseOutput(error);
  return code === "interpreter-missing" ? "or write it in another language" : undefined;
}

function adviseFailed({ message }: Failure): string | undefined {
  for (const [pattern, advise] of missing) {
    const name = pattern
      .exec(message)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined) return advise(name);
  }
  return undefined;
}

function adviseOutput({ message }: Failure): string | undefined {
  if (message.endsWith("found nothing")) {
    return "no function of the code is called for you: the program itself reads the input from standard input, and prints the output";
  }
  return message.includes("JSON on standard output")
    ? 'print one JSON value and nothing else, and anything else to standard error; or leave "output" out, then the output is text'
    : undefined;
}

/** Differences that are hard to see. */
function adviseDifference(expected: unknown, got: unknown): string | undefined {
  const [one, other] = [expected, got].map((value) => JSON.stringify(value) ?? "");
  if (one === undefined || other === undefined || one === other) return undefined;
  if (withoutSpace(one) === withoutSpace(other)) {
    return "only white space is different: write the output as it came, or have the program print it so";
  }
  return withoutNoise(one) === withoutNoise(other)
    ? "only the last digits of numbers are different: round them in the program, or write the output as it came"
    : undefined;
}

/** Numbers, with as many digits as people write. */
function withoutNoise(text: string): string {
  return text.replaceAll(/-?\d+\.\d{6,}(?:e[+-]?\d+)?/giu, (number) => String(Number(Number(number).toPrecision(9))));
}

/** White space, and what stands for it in JSON. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s|\\[nrt]/gu, "");
}

/** Says what to change in a draft that was not built; nothing if the compiler's words are enough. */
function findBuildAdvice(cause: unknown): string | undefined {
  if (isKitbagError(cause, "compiler-missing")) return "or write it in another language";
  if (!isKitbagError(cause, "build-failed")) return undefined;
  const text = cause.details.lines.join("\n");
  if (text.includes("wasm-validator error")) {
    return "exported functions are not called: write a program, with statements at the top level that read process.stdin and write process.stdout";
  }
  return /undeclared crate|unlinked crate|can't find crate/u.test(text)
    ? 'there are no crates but std: do without them, or give a "Cargo.toml" and a "Cargo.lock" in "files"'
    : undefined;
}

/** Tells all that a caller needs of a tool that is live now; why it is not, if it is not. */
export function toLiveAnswer(
  { live, workspace }: Pick<ForgeParts, "live" | "workspace">,
  name: string,
  notes: readonly ForgeDiagnostic[] = [],
): ForgeAnswer {
  const entry = live.find(name);
  const registered = workspace.getTool(name);
  if (entry?.tool === undefined || entry.status !== "live" || registered === undefined) {
    return refuseDraft(name, entry?.diagnostics ?? []);
  }
  const { tool } = entry;
  const usedBy = findUsers(name, workspace);
  return {
    status: "live",
    name,
    wireName: registered.wireName,
    version: tool.version ?? "",
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    permissions: tool.permissions,
    howToCall: toHints(registered.wireName, tool, ownershipOf(entry.stored).owner),
    examples: [],
    ...(usedBy.length > 0 && { usedBy }),
    diagnostics: [...entry.diagnostics, ...notes],
  };
}

/** The command line is the local user's, and calls nothing of another owner. */
function toHints(wireName: string, { name, examples }: Tool, owner: string | undefined): readonly string[] {
  const text = JSON.stringify(examples[0]?.input ?? {});
  const shown = text.length > 400 ? "{…}" : text;
  const command = `On the command line: kitbag call ${name} --input '${shown.replaceAll("'", String.raw`'\''`)}'`;
  return [
    `As a tool of its own: ${wireName} with ${shown}`,
    `Through call_tool: {"name": ${JSON.stringify(wireName)}, "input": ${shown}}`,
    ...(owner === undefined ? [command] : []),
  ];
}
