import { parse, TomlError } from "smol-toml";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { describeProblem, type Problem } from "../../core/errors.ts";
import { copyJson } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";

/** A manifest's text, parsed, or what is wrong with it. */
export type ParsedManifest<Content> = { readonly ok: true; readonly value: Content } | RefusedManifest;

interface RefusedManifest {
  readonly ok: false;
  readonly diagnostics: readonly Diagnostic[];
}

const maxManifestBytes = 256 * 1024;

/**
 * Parses a manifest in TOML or JSON and holds it against `schema`. Everything that is wrong has its line. The caller says with
 * `Content` what the schema lets through.
 */
export function parseManifestText<Content>(
  file: string,
  bytes: Uint8Array,
  schema: JsonSchema,
): ParsedManifest<Content> {
  if (bytes.length > maxManifestBytes)
    return refuse(file, `Cannot read ${file}: it is larger than ${maxManifestBytes} bytes`);
  let text: string;
  let raw: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    raw = file.endsWith(".json") ? JSON.parse(text) : parse(text);
  } catch (cause) {
    return refuse(file, `Cannot read ${file}: ${firstLine(cause)}`, cause instanceof TomlError ? cause : undefined);
  }
  const copy = copyJson(raw, { maxBytes: 4 * maxManifestBytes, maxDepth: 32 });
  if (!copy.ok)
    return refuse(
      file,
      `Cannot read ${file}: ${copy.reason === "not-json" ? describeProblem(copy.problem) : "it is too large"}`,
    );
  const problems = checkStrictly(schema, copy.value);
  if (problems.length > 0)
    return { ok: false, diagnostics: problems.map((problem) => toDiagnostic(file, text, problem)) };
  return { ok: true, value: copy.value as Content };
}

function refuse(
  file: string,
  message: string,
  place?: { readonly line: number; readonly column: number },
): RefusedManifest {
  const at = place === undefined ? {} : { line: place.line, column: place.column };
  return { ok: false, diagnostics: [{ severity: "error", code: "manifest-invalid", message, file, ...at }] };
}

function firstLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.split("\n", 1)[0]?.replace(/^Invalid TOML document: /u, "") ?? message;
}

/** What other manifests, and other systems, call what is called so here. */
const otherNames: ReadonlyMap<string, string> = new Map([["timeout", "limitMs"]]);

function toDiagnostic(file: string, text: string, found: Problem): Diagnostic {
  const meant = found.found === "an unknown parameter" ? otherNames.get(found.path.split(".").at(-1) ?? "") : undefined;
  const problem = meant === undefined ? found : { ...found, didYouMean: meant };
  const line = findLine(text, problem.path);
  return {
    severity: "error",
    code: "manifest-invalid",
    message: `Cannot use ${file}: ${describeProblem(problem)}`,
    file,
    ...(line !== undefined && { line }),
    ...(problem.didYouMean !== undefined && { cure: `write ${problem.didYouMean}` }),
  };
}

/** The line on which the last name of a path stands, or of what it is missing in; good enough for a person to find it. */
function findLine(text: string, path: string): number | undefined {
  const lines = text.split("\n").map((line) => line.slice(0, 400));
  const names = path.replaceAll(/\[\d+\]/gu, "").match(/[\w-]+/gu) ?? [];
  const found = names.map((name) => lines.findIndex((line) => line.includes(name))).findLast((index) => index >= 0);
  return found === undefined ? undefined : found + 1;
}
