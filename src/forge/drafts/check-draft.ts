import { describeProblem, type Problem } from "../../core/errors.ts";
import { copyJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import { codeFiles } from "../../skills/code/code-file.ts";
import type { ForgeDiagnostic, ForgePolicy } from "../forge-interface.ts";
import type { CodeDraft, SkillDraft, ToolDraft } from "../tool-draft.ts";
import { refuseFiles } from "./check-files.ts";
import { refuseName } from "./check-name.ts";
import { refusePermissions } from "./check-permissions.ts";
import { refuseSchemaForm } from "./check-schema-form.ts";
import { isVersion } from "../versions/next-version.ts";
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

/** Checks the shape of a draft, whatever somebody gives. Answers with a copy that nobody else can change. */
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
        ? 'examples: there is none; give at least one {"input": {…}, "output": …}: each is run before the tool is live. If its output is never the same, leave "output" out; if it must not do its work, give it an input for a dry run'
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
