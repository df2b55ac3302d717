import { parse } from "smol-toml";

import { describeCause, KitbagError } from "../../../core/errors.ts";
import { parseRequirementList, type Requirement } from "./parse-requirement.ts";

/** What the block at the top of a script asks for. */
export interface InlineScript {
  readonly requirements: readonly Requirement[];
  /** The versions of Python that it runs with; empty for any. */
  readonly requiresPython: string;
}

const opening = /^# \/\/\/ script[ \t]*$/u;
const longestBlock = 500;

/**
 * Reads the block of a script (`# /// script`) that names its packages; undefined if it has none.
 *
 * @throws {KitbagError} `dependency-refused` if the block, or a package in it, cannot be used.
 */
export function parseInlineScript(text: string, file: string): InlineScript | undefined {
  const block = findBlock(text, file);
  if (block === undefined) return undefined;
  const { dependencies = [], "requires-python": requiresPython = "" } = parseBlock(block, file);
  if (!Array.isArray(dependencies)) throw refused("dependencies", file, "it is not a list of texts");
  const requirements = parseRequirementList(dependencies, file);
  return { requirements, requiresPython: typeof requiresPython === "string" ? requiresPython : "" };
}

function findBlock(text: string, file: string): string | undefined {
  const lines = text.split(/\r?\n/u);
  const starts = lines.flatMap((line, index) => (opening.test(line) ? [index] : []));
  const [start, second] = starts;
  if (start === undefined) return undefined;
  const rest = lines.slice(start + 1, start + 1 + longestBlock);
  const end = rest.findIndex((line) => !/^#(?: |$)/u.test(line));
  const comment = end === -1 ? rest : rest.slice(0, end);
  const close = comment.lastIndexOf("# ///");
  if (close === -1) throw refused("# /// script", file, 'its block does not end with "# ///"');
  if (second !== undefined && second > start + close + 1) {
    throw refused("# /// script", file, "there is more than one block of this kind");
  }
  return comment
    .slice(0, close)
    .map((line) => line.slice(2))
    .join("\n");
}

function parseBlock(block: string, file: string): Record<string, unknown> {
  try {
    return parse(block);
  } catch (cause) {
    throw refused("# /// script", file, `its block is not TOML: ${describeCause(cause, 200)}`);
  }
}

function refused(dependency: string, file: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}
