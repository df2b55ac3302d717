import { isMap, isScalar, isSeq, parseDocument, type Document, type YAMLError } from "yaml";

import { convertYaml } from "./convert-yaml.ts";
import type { FrontMatter } from "./front-matter.ts";
import { parsePlainYaml } from "./parse-plain-yaml.ts";
import { createPositions, type Position } from "./positions.ts";
import type { Reporter } from "./reporter.ts";

/** What is wrong with YAML that cannot be parsed. */
export interface YamlFault {
  readonly code: "front-matter-not-map" | "yaml-invalid";
  readonly message: string;
  readonly offset: number;
}

/** What {@link parseYaml} answers: `refused` after an `error`, when the YAML must not be used at all. */
export type ParsedYaml = { readonly frontMatter: FrontMatter } | { readonly fault: YamlFault } | "refused";

/**
 * Parses a block of YAML, which begins on line `blockLine` of its file.
 *
 * Contract: never throws; aliases, depth and the number of values are limited; a tag never makes anything but its plain value.
 */
export function parseYaml(block: string, blockLine: number, reporter: Reporter): ParsedYaml {
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
