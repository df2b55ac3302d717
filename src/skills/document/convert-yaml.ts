import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from "yaml";

import { quote } from "../../core/errors.ts";
import type { Field, FieldValue } from "./front-matter.ts";
import type { Position } from "./positions.ts";
import type { Reporter } from "./reporter.ts";

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
export function convertYaml(
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
