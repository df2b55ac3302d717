import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from "yaml";

import type { Field, FieldValue, FrontMatter } from "./front-matter.ts";
import { createPositions, type Position } from "./positions.ts";
import { repairFrontMatter } from "./repair-front-matter.ts";
import type { Reporter } from "./reporter.ts";
import { splitBehindKeys, splitFrontMatter, type SplitText } from "./split-front-matter.ts";
import { quote } from "../../core/errors.ts";

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

const maxDepth = 32;
const maxAliases = 50;
const maxValues = 20_000;

interface Conversion {
  readonly document: Document;
  readonly at: (offset: number) => Position;
  readonly reporter: Reporter;
  aliases: number;
  anchorReported: boolean;
  values: number;
  /** A limit was reached and reported; nothing more is converted. */
  refused: boolean;
}

/**
 * Makes fields of the map at the top of a YAML document, and reports what other clients would not accept: anchors, tags, keys
 * that occur twice. Answers nothing, after an `error`, when it is too deep or its aliases grow beyond measure.
 */
function convertYaml(
  document: Document,
  map: YAMLMap,
  at: (offset: number) => Position,
  reporter: Reporter,
): readonly Field[] | undefined {
  const conversion: Conversion = {
    document,
    at,
    reporter,
    aliases: 0,
    anchorReported: false,
    values: 0,
    refused: false,
  };
  const fields = toFields(map, 0, conversion);
  return conversion.refused ? undefined : fields;
}

function toFields(map: YAMLMap, depth: number, conversion: Conversion): Field[] {
  const { at, reporter } = conversion;
  const fields = new Map<string, Field>();
  for (const { key, value } of map.items) {
    const offset = offsetOf(key);
    const name = isScalar(key) ? toScalar(key.value, key.source).text : "";
    if (name === "" || name === "__proto__") {
      reporter.report(
        "key-invalid",
        "This key cannot be used; it is left out",
        at(offset),
        "Use letters, digits and hyphens",
      );
      continue;
    }
    const earlier = fields.get(name);
    if (earlier !== undefined) {
      const message = `The key ${quote(name)} is already on line ${at(earlier.offset).line}; the later one is used`;
      reporter.report("key-duplicate", message, at(offset), "Remove one of them");
      fields.delete(name);
    }
    fields.set(name, { key: name, offset, value: toValue(value, depth + 1, conversion) });
  }
  return [...fields.values()];
}

function toValue(node: unknown, depth: number, conversion: Conversion): FieldValue {
  const offset = offsetOf(node);
  const end = (node as Node | null)?.range?.[1] ?? offset;
  const nothing: FieldValue = { kind: "scalar", value: null, text: "", offset, end };
  if (isBeyondLimits(node, depth, conversion)) return nothing;
  if (isScalar(node)) {
    checkNode(node, conversion);
    return { kind: "scalar", ...toScalar(node.value, node.source), offset, end };
  }
  if (isAlias(node)) {
    checkNode(node, conversion);
    return toValue(node.resolve(conversion.document) ?? null, depth + 1, conversion);
  }
  if (isMap(node)) {
    checkNode(node, conversion);
    return { kind: "map", fields: toFields(node, depth, conversion), offset, end };
  }
  if (isSeq(node)) {
    checkNode(node, conversion);
    return { kind: "list", items: node.items.map((item) => toValue(item, depth + 1, conversion)), offset, end };
  }
  return nothing;
}

function isBeyondLimits(node: unknown, depth: number, conversion: Conversion): boolean {
  if (conversion.refused) return true;
  conversion.values++;
  if (isAlias(node)) conversion.aliases++;
  const deep = depth > maxDepth;
  if (!deep && conversion.values <= maxValues && conversion.aliases <= maxAliases) return false;
  conversion.refused = true;
  const where = conversion.at(offsetOf(node));
  if (deep) {
    const message = `The front matter is nested more than ${maxDepth} deep`;
    conversion.reporter.report("yaml-too-deep", message, where, "Flatten it");
  } else {
    const message = `The front matter grows beyond ${maxAliases} aliases or ${maxValues} values`;
    conversion.reporter.report("yaml-alias-bomb", message, where, "Write the values out");
  }
  return true;
}

function checkNode(node: Node, conversion: Conversion): void {
  const { at, reporter, anchorReported } = conversion;
  if (!anchorReported && (isAlias(node) || ("anchor" in node && node.anchor !== undefined))) {
    conversion.anchorReported = true;
    const message = "Anchors and aliases are not understood by every client";
    reporter.report("yaml-anchor", message, at(offsetOf(node)), "Write the value out");
  }
  if (node.tag !== undefined) {
    const message = `The tag ${quote(node.tag)} is ignored; the value is read as it is written`;
    reporter.report("yaml-tag", message, at(offsetOf(node)), "Remove the tag");
  }
  if (reporter.spec && (isMap(node) || isSeq(node)) && node.flow === true) {
    const message = "Brackets are refused by the reference validator";
    reporter.report("yaml-flow", message, at(offsetOf(node)), "Write one entry a line, without brackets");
  }
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function toScalar(
  value: unknown,
  source: string | undefined,
): { value: string | number | boolean | null; text: string } {
  if (typeof value === "string") return { value, text: value };
  if (typeof value === "number" || typeof value === "boolean") return { value, text: source ?? String(value) };
  if (value === null || value === undefined) return { value: null, text: source ?? "" };
  return { value: source ?? "", text: source ?? "" };
}
