/** Writes `docs/errors.md` from `src/core/error-details.ts` and the messages in `src/core/errors.ts`. With `--check` it only tells whether the file is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { errorCodes, toFailure, type ErrorCode } from "../src/core/errors.ts";

const root = resolve(import.meta.dirname, "..");
const file = join(root, "docs/errors.md");

interface Row {
  readonly code: string;
  readonly meaning: string;
  readonly facts: readonly Fact[];
}

interface Fact {
  readonly name: string;
  readonly type: string;
}

const text = render(readRows());
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readIfThere(file) !== text) {
  console.error("docs/errors.md does not say what src/core/error-details.ts and errors.ts say; run: npm run docs");
  process.exitCode = 1;
}

/** Reads the rows of `ErrorDetails`: what the compiler knows is gone at run time, so the text is read. */
function readRows(): Row[] {
  const source = readFileSync(join(root, "src/core/error-details.ts"), "utf8");
  const table = /export interface ErrorDetails \{\n(.*?)\n\}\n/su.exec(source)?.[1] ?? "";
  const rows = [...table.matchAll(/\/\*\*(.*?)\*\/\s*"([a-z-]+)":\s*\{(.*?)\};/gsu)].map(
    ([, comment, code, facts]) => ({
      code: code ?? "",
      meaning: (comment ?? "").replaceAll(/\s*\n\s*\*?\s*/gu, " ").trim(),
      facts: [...(facts ?? "").matchAll(/readonly (\w+)\??: ([^;]+)/gu)].map(([, name = "", type = ""]) => ({
        name,
        type: type.trim(),
      })),
    }),
  );
  const found = rows.map(({ code }) => code).toSorted();
  if (found.join() !== errorCodes.join()) {
    throw new Error(`Cannot read ErrorDetails: found the rows ${found.join(", ")}, expected ${errorCodes.join(", ")}`);
  }
  return rows.toSorted((left, right) => (left.code < right.code ? -1 : 1));
}

function render(rows: readonly Row[]): string {
  const head = [
    "# Errors",
    "",
    "Everything that can go wrong has a code. A failed outcome carries it in `error.code`, a thrown `KitbagError` in `code`; match on",
    "the code, never on the text. The facts are in `details`. `<name>` stands for a fact.",
    "",
    "This file is written by `npm run docs` from `src/core/error-details.ts` and `src/core/errors.ts`.",
  ];
  const sections = rows.flatMap(({ code, meaning, facts }) => [
    "",
    `## ${code}`,
    "",
    meaning,
    "",
    ...facts.map(({ name, type }) => `- \`${name}\`: \`${type}\``),
    "",
    "```text",
    sampleMessage(code as ErrorCode, facts),
    "```",
  ]);
  return `${[...head, ...sections].join("\n")}\n`;
}

/** The message as the code writes it, with placeholders for the facts. */
function sampleMessage(code: ErrorCode, facts: readonly Fact[]): string {
  const details = Object.fromEntries(facts.map(({ name, type }) => [name, samplePart(name, type)]));
  return toFailure(code, details as never).message;
}

function samplePart(name: string, type: string): unknown {
  if (type === "boolean") return true;
  if (type === "readonly Problem[]") return [{ path: "<path>", expected: "<expected>", found: "<found>" }];
  return type.endsWith("[]") ? [`<${name}>`] : `<${name}>`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
