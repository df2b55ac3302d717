import { quote } from "../../core/errors.ts";
import { checkBody } from "./check-body.ts";
import { decodeText, type DecodedText } from "./decode-text.ts";
import { createFields, type Fields } from "./fields.ts";
import { findHiddenCharacters, showCodePoint } from "../../core/hidden-characters.ts";
import { parseFrontMatter, type ParsedText } from "./parse-front-matter.ts";
import { createPositions } from "./positions.ts";
import {
  readAllowedTools,
  readArguments,
  readCompatibility,
  readDescription,
  readFlag,
  readText,
} from "./read-fields.ts";
import { readMetadata, readTools } from "./read-metadata.ts";
import { readName } from "./read-name.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import type { SkillDocument, SkillReading } from "./skill-document.ts";

/** How a SKILL.md is read. */
export interface ParseOptions {
  /** What diagnostics call the file. @default "SKILL.md" */
  readonly file?: string;
  /** The name of the folder it is in; without one the name is not compared. */
  readonly directoryName?: string;
  /** Applies the specification, as its reference validator does: every deviation is an `error`. @default false */
  readonly spec?: boolean;
}

/**
 * Reads a SKILL.md: leniently, and says what it had to put up with.
 *
 * Contract: never throws, whatever the bytes; takes time in proportion to them; runs nothing. Without a document there is one
 * `error` that says why; with one there is none, except with `spec`, where each deviation is an `error`.
 *
 * @example
 * ```ts
 * import { parseSkillDocument } from "kitbag/skills";
 *
 * const { document, diagnostics } = parseSkillDocument("---\nname: pdf\ndescription: Use when: PDF\n---\nRead the file.\n");
 * console.assert(document?.description === "Use when: PDF");
 * console.assert(diagnostics[0]?.code === "yaml-unquoted" && diagnostics[0].line === 3);
 * ```
 */
export function parseSkillDocument(source: string | Uint8Array, options: ParseOptions = {}): SkillReading {
  const reporter = createReporter(options.file ?? "SKILL.md", options.spec);
  const document = readDocument(source, options, reporter);
  return { ...(document !== undefined && { document }), diagnostics: reporter.list() };
}

function readDocument(
  source: string | Uint8Array,
  options: ParseOptions,
  reporter: Reporter,
): SkillDocument | undefined {
  const decoded = decodeText(source, reporter);
  if (decoded === undefined) return undefined;
  const parsed = parseFrontMatter(decoded.text, reporter);
  if (parsed === undefined) return undefined;
  const fields = createFields(parsed.frontMatter, reporter);
  const description = readDescription(fields, parsed.body, reporter);
  if (description === undefined) {
    const message = "There is no description, and no text to take one from";
    reporter.report(
      "skill-empty",
      message,
      { line: 1, column: 1 },
      "Write: description: what it does, and when to use it",
    );
    return undefined;
  }
  checkBody(parsed.body, parsed.bodyLine, reporter);
  checkCharacters(decoded, reporter);
  return { ...toDocument(fields, parsed, options, reporter), ...description };
}

type Undescribed = Omit<SkillDocument, "description" | "descriptionFrom">;

function toDocument(
  fields: Fields,
  { body, bodyLine }: ParsedText,
  options: ParseOptions,
  reporter: Reporter,
): Undescribed {
  const declaredName = readText("name", fields, reporter);
  const nameValue = fields.get("name")?.value;
  const where = nameValue === undefined ? { line: 1, column: 1 } : fields.at(nameValue);
  const { metadata, kitbag } = readMetadata(fields, reporter);
  const version = readText("version", fields, reporter) ?? metadata["version"];
  return {
    file: options.file ?? "SKILL.md",
    name: readName({ declared: declaredName, where, directoryName: options.directoryName }, reporter),
    ...optional("declaredName", declaredName),
    ...optional("whenToUse", readText("when_to_use", fields, reporter)),
    ...optional("license", readText("license", fields, reporter)),
    ...optional("compatibility", readCompatibility(fields, reporter)),
    allowedTools: readAllowedTools(fields, reporter),
    metadata,
    kitbag,
    tools: readTools(fields, reporter),
    arguments: readArguments(fields, reporter),
    ...optional("argumentHint", readHint(fields)),
    ...optional("version", version),
    modelInvocable: !readFlag("disable-model-invocation", false, fields, reporter),
    userInvocable: readFlag("user-invocable", true, fields, reporter),
    extra: fields.extra,
    body,
    bodyLine,
  };
}

function optional<Key extends string>(key: Key, value: string | undefined): { readonly [name in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]: string });
}

/** `[file] [mode]` is meant as it is written, although YAML sees a list. */
function readHint(fields: Fields): string | undefined {
  const value = fields.get("argument-hint")?.value;
  if (value === undefined) return undefined;
  return value.kind === "scalar" ? value.text.trim() || undefined : fields.source(value);
}

function checkCharacters({ text, ascii }: DecodedText, reporter: Reporter): void {
  const positions = createPositions(text);
  for (const { offset, codePoint, count, kind, spells } of findHiddenCharacters(text, { ascii })) {
    const what = `${showCodePoint(codePoint)}${count > 1 ? ` and ${count - 1} more in a row` : ""}`;
    const where = positions.at(offset);
    if (kind === "control") {
      reporter.report("character-control", `Found the control character ${what}`, where, "Remove it");
      continue;
    }
    const message = spells === undefined ? "" : `; they spell ${quote(spells)}`;
    const cure = "Remove it, or write it as an escape if it is meant to be seen";
    reporter.report("character-hidden", `Found a ${kind} character that nobody sees: ${what}${message}`, where, cure);
  }
}
