import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLError } from "yaml";

import { convertYaml } from "./convert-yaml.ts";
import type { FrontMatter } from "./front-matter.ts";
import { parsePlainYaml } from "./parse-plain-yaml.ts";
import { createPositions, type Position } from "./positions.ts";
import { repairFrontMatter } from "./repair-front-matter.ts";
import type { Reporter } from "./reporter.ts";
import { splitBehindKeys, splitFrontMatter, type SplitText } from "./split-front-matter.ts";

/** A file, taken apart and parsed. */
export interface ParsedText {
  readonly frontMatter: FrontMatter;
  readonly body: string;
  readonly bodyLine: number;
}

/**
 * Splits a file and parses its front matter; what does not parse is repaired, where that is possible, and parsed once more.
 * Answers nothing, after an `error`, when the file cannot be used.
 */
export function parseFrontMatter(text: string, reporter: Reporter): ParsedText | undefined {
  const split = splitFrontMatter(text, reporter);
  if (split === undefined) return undefined;
  const { block = "", blockLine } = split;
  const conflict = findConflict(block);
  if (conflict !== undefined) {
    const where = { line: blockLine + conflict, column: 1 };
    reporter.report(
      "front-matter-conflict",
      "The front matter contains an unresolved merge",
      where,
      "Keep one side of it",
    );
    return undefined;
  }
  if (reporter.spec && block.includes("---")) {
    const message = "The front matter contains three dashes in a row; the reference validator cuts it there";
    reporter.report("front-matter-dashes", message, { line: blockLine, column: 1 }, "Write one dash");
  }
  const parsed = parseYaml(block, blockLine, reporter);
  if (parsed === "refused") return undefined;
  if ("frontMatter" in parsed) return { frontMatter: parsed.frontMatter, body: split.body, bodyLine: split.bodyLine };
  const shorter = splitBehindKeys(text, split, reporter);
  return parseRepaired(shorter ?? split, parsed.fault, reporter);
}

function findConflict(block: string): number | undefined {
  if (!block.includes("<<<<<<<")) return undefined;
  const index = block.split("\n").findIndex((line) => /^<{7}(?: |$)/u.test(line));
  return index === -1 ? undefined : index;
}

function parseRepaired(split: SplitText, fault: YamlFault, reporter: Reporter): ParsedText | undefined {
  const { block = "", blockLine, body, bodyLine } = split;
  const repaired = repairFrontMatter(block);
  const parsed = repaired === undefined ? undefined : parseYaml(repaired.text, blockLine, reporter);
  if (parsed === "refused") return undefined;
  if (repaired === undefined || parsed === undefined || "fault" in parsed) {
    reportFault(split, fault, reporter);
    return undefined;
  }
  for (const { code, message, line, column, cure } of repaired.repairs) {
    reporter.report(code, message, { line: line + blockLine - 1, column }, cure);
  }
  return { frontMatter: parsed.frontMatter, body, bodyLine };
}

function reportFault(
  { block = "", blockLine }: SplitText,
  { code, message, offset }: YamlFault,
  reporter: Reporter,
): void {
  const before = block.slice(0, offset).split("\n");
  const where = { line: blockLine + before.length - 1, column: (before.at(-1)?.length ?? 0) + 1 };
  reporter.report(code, message, where, 'Write "key: value" lines, and texts in double quotes');
}

/** What is wrong with YAML that cannot be parsed. */
interface YamlFault {
  readonly code: "front-matter-not-map" | "yaml-invalid";
  readonly message: string;
  readonly offset: number;
}

/** What {@link parseYaml} answers: `refused` after an `error`, when the YAML must not be used at all. */
type ParsedYaml = { readonly frontMatter: FrontMatter } | { readonly fault: YamlFault } | "refused";

/**
 * Parses a block of YAML, which begins on line `blockLine` of its file.
 *
 * Contract: never throws; aliases, depth and the number of values are limited; a tag never makes anything but its plain value.
 */
function parseYaml(block: string, blockLine: number, reporter: Reporter): ParsedYaml {
  const positions = createPositions(block);
  const at = (offset: number): Position => {
    const { line, column } = positions.at(Math.min(offset, block.length));
    return { line: line + blockLine - 1, column };
  };
  const plain = parsePlainYaml(block);
  if (plain !== undefined) return { frontMatter: { block, fields: plain, at } };
  const document = parseSafely(block);
  if (document === undefined) {
    reporter.report("yaml-too-deep", "The front matter is nested too deep", at(0), "Flatten it");
    return "refused";
  }
  const [error] = document.errors;
  if (error !== undefined) return { fault: toFault(error) };
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return { frontMatter: { block, fields: [], at } };
  }
  if (!isMap(contents)) {
    const message = `The front matter is ${isSeq(contents) ? "a list" : "one value"}, not keys with values`;
    return { fault: { code: "front-matter-not-map", message, offset: 0 } };
  }
  const fields = convertYaml(document, contents, at, reporter);
  return fields === undefined ? "refused" : { frontMatter: { block, fields, at } };
}

function toFault({ message, pos: [offset] }: YAMLError): YamlFault {
  const [what = ""] = message.split("\n");
  return { code: "yaml-invalid", message: `The front matter is not valid YAML: ${what}`, offset };
}

/** Nesting beyond the stack is the one way in which the library throws. */
function parseSafely(block: string): Document.Parsed | undefined {
  try {
    // Keys are compared in convertYaml: the library takes quadratic time for it.
    return parseDocument(block, { prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  } catch {
    return undefined;
  }
}
