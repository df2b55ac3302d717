import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from "yaml";

import type { Diagnostic } from "../../../core/diagnostics.ts";
import { quote } from "../../../core/errors.ts";
import { copyJson, showValue, type JsonValue } from "../../../core/json.ts";
import { nearestNames } from "../../../core/nearest.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** A place in a YAML file and the value that stands there. */
export interface YamlPlace {
  readonly value: JsonValue;
  readonly line: number;
  readonly column: number;
  /** The entries of a map, in order; none for anything else. */
  entries(): readonly YamlEntry[];
  /** The items of a list; none for anything else. */
  items(): readonly YamlPlace[];
}

/** A key of a map and what stands under it. */
export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly column: number;
  readonly place: YamlPlace;
}

/** Reads YAML with its places, and collects what is wrong with it. */
export interface YamlReader {
  readonly root: YamlPlace | undefined;
  readonly diagnostics: Diagnostic[];
  report(code: string, message: string, at: { readonly line: number; readonly column?: number }, cure?: string): void;
  /** Reports a value that is not what it should be. */
  expect(what: string, key: string, place: YamlPlace): void;
  /** Reports the keys of a map that are not `known`. */
  refuseUnknown(place: YamlPlace, known: readonly string[], where: string): void;
}

const largestManifest = 256 * 1024;
const deepest = 32;

/** Parses `text`, the content of `file`. Contract: never throws; a file that cannot be read has no root and a diagnostic. */
export function createYamlReader(text: string, file: string): YamlReader {
  const diagnostics: Diagnostic[] = [];
  const report: YamlReader["report"] = (code, message, { line, column }, cure) => {
    diagnostics.push(withoutUndefined<Diagnostic>({ severity: "error", code, message, file, line, column, cure }));
  };
  const root = parse(text, report);
  return {
    root,
    diagnostics,
    report,
    expect(what, key, place) {
      report("manifest-invalid", `Cannot use ${quote(key)}: expected ${what}, found ${showValue(place.value)}`, place);
    },
    refuseUnknown(place, known, where) {
      for (const entry of place.entries()) {
        if (known.includes(entry.key)) continue;
        const [nearest] = nearestNames(entry.key, known, 1);
        const cure = nearest === undefined ? `The keys are: ${known.join(", ")}` : `Did you mean ${quote(nearest)}?`;
        report(
          "manifest-key-unknown",
          `Cannot use the key ${quote(entry.key)} ${where}: there is no such key`,
          entry,
          cure,
        );
      }
    },
  };
}

function parse(text: string, report: YamlReader["report"]): YamlPlace | undefined {
  if (text.length > largestManifest) {
    report("manifest-invalid", `Cannot read the manifest: it has more than ${largestManifest} characters`, { line: 1 });
    return undefined;
  }
  const counter = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
    for (const error of document.errors.slice(0, 20)) {
      const { line, col } = counter.linePos(error.pos[0]);
      report("manifest-invalid", `Cannot read the manifest: ${error.message}`, { line, column: col });
    }
    if (document.errors.length > 0 || document.contents === null) return undefined;
    return toPlace(document.contents, document, { counter, depth: 0 });
  } catch (cause) {
    report("manifest-invalid", `Cannot read the manifest: ${cause instanceof Error ? cause.message : String(cause)}`, {
      line: 1,
    });
    return undefined;
  }
}

interface Reading {
  readonly counter: LineCounter;
  readonly depth: number;
}

function toPlace(node: Node, document: Document, { counter, depth }: Reading): YamlPlace {
  const { line, col: column } = counter.linePos(node.range?.[0] ?? 0);
  const target = isAlias(node) ? node.resolve(document) : node;
  const deeper = { counter, depth: depth + 1 };
  return {
    value: toJson(node, document),
    line,
    column,
    entries() {
      if (!isMap(target) || depth > deepest) return [];
      return target.items.flatMap((pair) => {
        const key = isScalar(pair.key) ? String(pair.key.value) : "";
        const at = counter.linePos((pair.key as Node | null)?.range?.[0] ?? 0);
        const inner = pair.value as Node | null;
        const place = inner === null ? emptyPlace(at.line, at.col) : toPlace(inner, document, deeper);
        return [{ key, line: at.line, column: at.col, place }];
      });
    },
    items: () =>
      isSeq(target) && depth <= deepest ? target.items.map((item) => toPlace(item as Node, document, deeper)) : [],
  };
}

function emptyPlace(line: number, column: number): YamlPlace {
  return { value: null, line, column, entries: () => [], items: () => [] };
}

function toJson(node: Node, document: Document): JsonValue {
  const copied = copyJson(node.toJS(document, { maxAliasCount: 50 }), {
    maxBytes: 4 * largestManifest,
    maxDepth: deepest,
  });
  return copied.ok ? copied.value : null;
}
