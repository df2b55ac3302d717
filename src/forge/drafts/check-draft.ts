import { describeProblem, isKitbagError, type Problem } from "../../core/errors.ts";
import { copyJson, type JsonObject, type JsonValue, showValue } from "../../core/json.ts";
import { permissionKinds, type Permissions, scopesOf } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import { parseNetworkRule } from "../../sandbox/egress/network-rule.ts";
import { toTarget } from "../../sandbox/grants.ts";
import { codeFiles } from "../../skills/code/code-file.ts";
import { isIgnoredFile, isIgnoredFolder } from "../../skills/folder/ignored-names.ts";
import type { ForgeDiagnostic, ForgePolicy } from "../forge-interface.ts";
import type { CodeDraft, SkillDraft, ToolDraft } from "./tool-draft.ts";
import { isVersion } from "../versions/next-version.ts";
import { refuseName } from "../disk/tools-folder.ts";
import { pipelineDraftSchema, skillDraftSchema, toolDraftSchema } from "./draft-schema.ts";
import { moduleFile, toPlaces } from "./languages.ts";

/** A draft that has the right shape, or what is wrong with it. */
export type CheckedDraft<Draft> =
  | { readonly ok: true; readonly draft: Draft }
  | { readonly ok: false; readonly name: string; readonly diagnostics: readonly ForgeDiagnostic[] };

/** Limits of a policy, as they hold. */
export type DraftLimits = Required<Pick<ForgePolicy, "maxBytes" | "maxExamples">>;

/** Everything beside code: schemas, examples, words. What is kept of it stands in one file of at most 256 KiB. */
const maxHeadBytes = 200 * 1024;
const maxDepth = 64;

/** Names in a tool's folder that have a meaning. */
const ownNames = ["manifest.json", "history.jsonl", "versions", moduleFile];

/** What a draft of a skill says with its other parts, and code that would run in the host process. */
const ownSkillFiles = ["skill.md", "kitbag.toml", "manifest.toml", "manifest.json", "scripts", ...codeFiles];

/** Checks the shape of a draft, whatever is given. Answers with a copy, which the caller cannot change. */
export function checkDraft(given: unknown, limits: DraftLimits): CheckedDraft<ToolDraft> {
  const isPipeline = typeof given === "object" && given !== null && "steps" in given;
  const checked = checkShape<ToolDraft>(given, isPipeline ? pipelineDraftSchema : toolDraftSchema, limits.maxBytes);
  if (!checked.ok) return checked;
  const { draft } = checked;
  const wrong = [...refuseHead(draft, limits), ...("code" in draft ? refuseCode(draft, limits) : [])];
  return wrong.length === 0 ? checked : { ok: false, name: draft.name, diagnostics: wrong };
}

/** Checks the shape of a draft of a skill, and of the tools in it. */
export function checkSkillDraft(given: unknown, limits: DraftLimits): CheckedDraft<SkillDraft> {
  const checked = checkShape<SkillDraft>(given, skillDraftSchema, 10 * limits.maxBytes);
  if (!checked.ok) return checked;
  const { name, files = {}, tools = [], version } = checked.draft;
  const wrong = [
    ...toErrors("draft-invalid", [
      version === undefined || isVersion(version) ? undefined : "version: expected three numbers, such as 1.2.0",
    ]),
    ...toErrors("name-invalid", [refuseName(name)]),
    ...toErrors("file-invalid", refuseFiles(Object.keys(files), ownSkillFiles)),
    ...tools.flatMap((tool) => [...refuseHead(tool, limits), ...refuseCode(tool, limits)]),
    ...toErrors("name-invalid", findTwice(tools.map((tool) => tool.name))),
  ];
  return wrong.length === 0 ? checked : { ok: false, name, diagnostics: wrong };
}

function checkShape<Draft>(given: unknown, schema: JsonObject, maxBytes: number): CheckedDraft<Draft> {
  const copy = copyJson(given, { maxBytes: maxBytes + 4 * maxHeadBytes, maxDepth });
  if (!copy.ok) {
    const reason = copy.reason === "too-large" ? `it is larger than ${maxBytes} bytes` : describeProblem(copy.problem);
    return { ok: false, name: nameOf(given), diagnostics: toErrors("draft-invalid", [reason]) };
  }
  const problems = checkStrictly(schema, copy.value);
  if (problems.length > 0) {
    return { ok: false, name: nameOf(copy.value), diagnostics: problems.map((problem) => toDiagnostic(problem)) };
  }
  return { ok: true, draft: copy.value as unknown as Draft };
}

function nameOf(given: unknown): string {
  const name = typeof given === "object" && given !== null && "name" in given ? given.name : undefined;
  return typeof name === "string" && name !== "" ? name.slice(0, 64) : "a tool";
}

function refuseHead(draft: ToolDraft, { maxExamples }: DraftLimits): readonly ForgeDiagnostic[] {
  const { name, examples, input, permissions = {} } = draft;
  const { code: _, files: __, ...head } = { code: "", files: {}, ...draft };
  const isLarge = JSON.stringify(head).length > maxHeadBytes;
  return [
    ...toErrors("name-invalid", [refuseName(name)]),
    ...toErrors("examples-missing", [
      examples.length === 0
        ? 'examples: the list is empty; give at least one {"input": {…}, "output": …}: each is run before the tool is live. If its output is never the same, leave "output" out; if it must not do its work, give it an input for a dry run'
        : undefined,
      examples.length > maxExamples ? `examples: there are ${examples.length}, and ${maxExamples} may be` : undefined,
    ]),
    ...toErrors("permission-invalid", refusePermissions(permissions)),
    ...toErrors("draft-invalid", [
      refuseSchemaForm("input", input),
      isLarge ? `schemas, texts and examples together are larger than ${maxHeadBytes} bytes` : undefined,
    ]),
  ];
}

function refuseCode(draft: CodeDraft, { maxBytes }: DraftLimits): readonly ForgeDiagnostic[] {
  const { code, files = {}, language, output, examples, dependencies = {} } = draft;
  const bytes = [code, ...Object.values(files)].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  const unread = examples.findIndex((example) => isJsonOutput(example.output));
  const { codeFile } = toPlaces(draft);
  return [
    ...toErrors("draft-invalid", [
      refuseSchemaForm("output", output),
      bytes > maxBytes ? `code and files have ${bytes} bytes, and ${maxBytes} may be` : undefined,
      code.includes("\0") ? "code: it has a NUL character" : undefined,
      code.trimStart().startsWith("```")
        ? "code: it begins with ```; give the program alone, without Markdown"
        : undefined,
      language === "php" && !code.includes("<?")
        ? 'code: PHP begins with "<?php"; without it, it is only text'
        : undefined,
      output === undefined && unread >= 0
        ? `examples[${unread}].output is JSON, but without an "output" schema the output is text; add "output", or write the text that the program prints`
        : undefined,
      (dependencies.cargo ?? []).length > 0
        ? 'dependencies.cargo: give a "Cargo.toml" in files instead, with a "Cargo.lock"'
        : undefined,
    ]),
    ...toErrors("file-invalid", refuseFiles(Object.keys(files), [...ownNames, codeFile])),
  ];
}

function isJsonOutput(output: JsonValue | undefined): boolean {
  return output !== undefined && typeof output !== "string";
}

function findTwice(names: readonly string[]): readonly (string | undefined)[] {
  const folded = names.map((name) => name.toLowerCase());
  return names.map((name, index) =>
    folded.indexOf(name.toLowerCase()) === index ? undefined : `tools: "${name}" is there twice`,
  );
}

function toErrors(code: string, reasons: readonly (string | undefined)[]): ForgeDiagnostic[] {
  return reasons.flatMap((message) =>
    message === undefined ? [] : [{ severity: "error" as const, code, message, file: "draft" }],
  );
}

function toDiagnostic(problem: Problem): ForgeDiagnostic {
  const cure = problem.didYouMean === undefined ? {} : { cure: `write ${problem.didYouMean}` };
  return { severity: "error", code: "draft-invalid", message: describeProblem(problem), file: "draft", ...cure };
}

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/u;
const longestPath = 200;
const mostFiles = 100;

/** Why these paths cannot be files of a tool, one line each. `own` are names that have a meaning there. */
function refuseFiles(paths: readonly string[], own: readonly string[]): readonly string[] {
  const reasons = paths.flatMap((path) => {
    const reason = refusePath(path, own);
    return reason === undefined ? [] : [`files[${JSON.stringify(path.slice(0, longestPath))}]: ${reason}`];
  });
  if (paths.length > mostFiles) reasons.unshift(`files: there are ${paths.length}, and ${mostFiles} may be there`);
  const seen = new Map<string, string>();
  for (const path of paths) {
    const twin = seen.get(path.toLowerCase());
    if (twin !== undefined) reasons.push(`files: ${path} and ${twin} are one file where case does not count`);
    seen.set(path.toLowerCase(), path);
  }
  return reasons;
}

function refusePath(path: string, own: readonly string[]): string | undefined {
  const parts = path.split("/");
  if (path.length > longestPath || !parts.every((part) => segment.test(part) && !part.endsWith("."))) {
    return 'a path is names of letters, digits, "_", "-" and ".", with "/" between them, and stays in the folder';
  }
  const top = parts[0]?.toLowerCase() ?? "";
  if (own.includes(top)) return "Kitbag keeps something of its own there; take another name";
  if (parts.some((part) => isIgnoredFolder(part)) || isIgnoredFile(parts.at(-1) ?? "")) {
    return "a file of this name is never part of a tool";
  }
  return undefined;
}

/** What a schema can say of an object without naming its properties. Whatever begins with "$" or "x-" may be there, too. */
const words: ReadonlySet<string> = new Set([
  ...["type", "title", "description", "default", "examples", "enum", "const", "deprecated", "readOnly", "writeOnly"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "definitions", "format", "contentMediaType"],
  ...["required", "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"],
  ...["minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"],
  ...["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"],
  ...["minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/** Types, and what other languages call them. */
const types: ReadonlyMap<string, string> = new Map([
  ...["string", "number", "integer", "boolean", "object", "array"].map((type) => [type, type] as const),
  ...([
    ["str", "string"],
    ["int", "integer"],
    ["float", "number"],
    ["bool", "boolean"],
    ["dict", "object"],
    ["list", "array"],
  ] as const),
]);

/**
 * Why a schema is likely none: `{"text": "string"}` has no property, only a word that means nothing, so that everything would fit.
 * Says how it is written.
 */
function refuseSchemaForm(part: string, schema: JsonSchema | undefined): string | undefined {
  if (schema === undefined || "properties" in schema) return undefined;
  const unknown = Object.keys(schema).filter((key) => !words.has(key) && !/^(?:\$|x-)/u.test(key));
  if (unknown.length === 0) return undefined;
  const properties = Object.fromEntries(unknown.map((key): [string, JsonObject] => [key, toSchema(schema[key])]));
  const cure = JSON.stringify({ type: "object", properties, required: unknown });
  return `${part}: it is no JSON Schema, because it has no "properties"; write ${cure.length > 500 ? '{"type": "object", "properties": {…}}' : cure}`;
}

function toSchema(given: unknown): JsonObject {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as JsonObject;
  return { type: types.get(String(given)) ?? "string" };
}

/** Words that mean everything or nothing: a permission names what it is for. */
const sweeping = /^(?:true|false|yes|no|all|any|none|\*+)$/iu;

const samples: Readonly<Record<keyof Permissions, string>> = {
  read: '"./data"',
  write: '"./data"',
  network: '"api.example.com"',
  env: '"API_KEY"',
  run: '"git"',
  sockets: '"private"',
};

/** Why these permissions cannot be granted, one line each: a person must not be asked about what means nothing. */
function refusePermissions(permissions: Permissions): readonly string[] {
  return permissionKinds.flatMap((kind) =>
    scopesOf(permissions, kind).flatMap((one, index) => {
      const reason = sweeping.test(one) ? `name each one, such as ${samples[kind]}` : refuseOne(kind, one);
      return reason === undefined ? [] : [`permissions.${kind}[${index}]: ${showValue(one)}: ${reason}`];
    }),
  );
}

function refuseOne(kind: keyof Permissions, one: string): string | undefined {
  if (kind === "network") return refuseHost(one);
  if (kind === "env" && !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(one)) return `name one variable, such as ${samples.env}`;
  if ((kind === "read" || kind === "write") && toTarget(one, { directory: "/" }) === undefined) {
    return `a path starts with ./, ~/ or /, and has no *, except /** at its end, such as ${samples[kind]}`;
  }
  const isPath = /^[./~]/u.test(one);
  if (kind === "run" && !isPath && /\s/u.test(one)) return `name the program alone, such as ${samples.run}`;
  return undefined;
}

function refuseHost(rule: string): string | undefined {
  try {
    parseNetworkRule(rule);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause, "network-rule-invalid")) throw cause;
    return cause.details.reason;
  }
}
