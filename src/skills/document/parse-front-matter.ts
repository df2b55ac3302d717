import type { FrontMatter } from "./front-matter.ts";
import { parseYaml, type YamlFault } from "./parse-yaml.ts";
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
