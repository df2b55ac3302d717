import { exampleSkills } from "../own-files.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ToolOutcome } from "../../core/outcome.ts";
import { toPrintable } from "../printable.ts";
import type { Style, Terminal } from "../terminal.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { openRuntimes, type Runtimes } from "../../runtimes/open-runtimes.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { loadSkills } from "../../skills/load/load-skills.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { chooseSandbox, type SandboxFlags } from "../sandbox/open-cli-runtimes.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Guarantee } from "../../sandbox/sandbox.ts";

/** A step that was run. */
export interface TourResult {
  readonly title: string;
  readonly why: string;
  readonly code: string;
  /** What the code showed, in order. */
  readonly shown: readonly unknown[];
}

/** What {@link runTour} may be told. */
export interface RunTourOptions {
  /** Print nothing: only the results count. @default false */
  readonly quiet?: boolean;
}

/** Runs the steps one after the other and shows each; where a person reads, waits for Enter in between. `q` ends it. */
export async function runTour(
  steps: readonly TourStep[],
  kit: Omit<TourKit, "show">,
  terminal: Terminal,
  { quiet = false }: RunTourOptions = {},
): Promise<TourResult[]> {
  const results: TourResult[] = [];
  const print = (text: string): void => (quiet ? undefined : terminal.print(`${text}\n`));
  const waits = !quiet && terminal.isScreen && terminal.canAsk;
  for (const [index, step] of steps.entries()) {
    const code = toShownCode(step);
    const shown: unknown[] = [];
    print(terminal.style(["bold", "underline"], `${index + 1}/${steps.length}  ${step.title}`));
    print(`\n${indent(highlightCode(code, terminal))}\n`);
    const show = (value: unknown): void => {
      shown.push(value);
      print(indent(renderShown(value, terminal)));
    };
    await step.run({ ...kit, show });
    print(`\n${step.why}\n`);
    results.push({ title: step.title, why: step.why, code, shown });
    if (waits && index + 1 < steps.length && !(await wantsMore(terminal))) break;
  }
  return results;
}

async function wantsMore(terminal: Terminal): Promise<boolean> {
  const answer = await terminal.ask(terminal.style("dim", "Enter goes on, q quits "));
  return answer !== undefined && !/^q(?:uit)?$/iu.test(answer);
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gmu, "  ");
}

/** What a piece of code is, by its first character or by being a keyword; the first that fits wins. */
const kinds: readonly (readonly [name: string, pattern: string, style: Style])[] = [
  ["comment", "//[^\\n]*", "gray"],
  ["text", '"(?:[^"\\\\\\n]|\\\\.)*"|`(?:[^`\\\\]|\\\\.)*`', "green"],
  ["keyword", "\\b(?:const|return|await|async|new|for|of|if|else|true|false|null)\\b", "magenta"],
  ["number", "\\b\\d[\\d_]*\\b", "yellow"],
  ["call", "\\b\\w+(?=\\()", "cyan"],
];

const pattern = new RegExp(kinds.map(([name, source]) => `(?<${name}>${source})`).join("|"), "gu");

/** Colours TypeScript for a screen. Knows as much of the language as our own examples use. */
export function highlightCode(code: string, terminal: Pick<Terminal, "style">): string {
  return code.replaceAll(pattern, (piece: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const style = kinds.find(([name]) => groups[name] !== undefined)?.[2];
    return style === undefined ? piece : terminal.style(style, piece);
  });
}

/** Writes what a step shows: an outcome with its status first, anything else as JSON. */
function renderShown(value: unknown, terminal: Pick<Terminal, "style">): string {
  if (!isOutcome(value)) return `${terminal.style("blue", "→")} ${toText(value)}`;
  if (value.status === "failed") {
    const { code, message } = value.error;
    return `${terminal.style("red", "✗ failed")} ${terminal.style("dim", code)}\n  ${toPrintable(message)}`;
  }
  const changes = (value.coerced ?? []).map(({ path, from, to }) => `\n  put right: ${path} from ${from} to ${to}`);
  return `${terminal.style("green", "✓ ok")} ${toText(value.output)}${terminal.style("dim", changes.join(""))}`;
}

function isOutcome(value: unknown): value is ToolOutcome {
  return typeof value === "object" && value !== null && "status" in value;
}

function toText(value: unknown): string {
  return toPrintable(typeof value === "string" ? value : JSON.stringify(value));
}

/** What the code of a step uses, under the names that `kitbag` exports. */
export interface TourKit {
  readonly defineTool: typeof defineTool;
  readonly definePipeline: typeof definePipeline;
  readonly defineSkill: typeof defineSkill;
  readonly createWorkspace: typeof createWorkspace;
  readonly loadSkills: typeof loadSkills;
  readonly openRuntimes: typeof openRuntimes;
  readonly describeSandbox: typeof describeSandbox;
  /** The folder of the skills that come along. */
  readonly examples: string;
  /** The folder of a small project. */
  readonly project: string;
  /** Shows a value: an outcome, mostly. */
  show(value: unknown): void;
}

/** One step: code that is shown, then run. */
export interface TourStep {
  readonly title: string;
  /** One sentence: why it matters. */
  readonly why: string;
  readonly run: (kit: TourKit) => Promise<void>;
}

/**
 * The code of a step as it is shown: the body of its function, so what is seen is what runs. Its first line must be the head of
 * the function and nothing else.
 */
export function toShownCode(step: Pick<TourStep, "run">): string {
  const lines = step.run.toString().split("\n").slice(1, -1);
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const margin = Math.min(...indents);
  const inner = lines.map((line) => line.slice(margin).trimEnd());
  // The compiler writes four spaces where our source has two.
  const steps = inner.map((line) => line.length - line.trimStart().length).filter((indent) => indent > 0);
  const isWide = steps.every((indent) => indent % 4 === 0);
  return inner.map((line) => (isWide ? halveIndent(line) : line)).join("\n");
}

function halveIndent(line: string): string {
  const indent = line.length - line.trimStart().length;
  return " ".repeat(indent / 2) + line.trimStart();
}

/** What the steps use, and a way to tidy up after them. */
interface OpenTourKit extends Omit<TourKit, "show"> {
  close(): void;
}

const orders = { orders: [{ customer: "Ada" }, { customer: "Bob" }] };

/** Gathers what the steps use: the real thing, and a small project in a folder of its own. */
export function openTourKit(invocation: SandboxFlags): OpenTourKit {
  const sandbox = chooseSandbox(invocation);
  const home = resolveKitbagHome(invocation.env);
  const project = mkdtempSync(join(tmpdir(), "kitbag-tour-"));
  writeFileSync(join(project, "orders.json"), JSON.stringify(orders));
  return {
    defineTool,
    defineSkill,
    definePipeline,
    createWorkspace,
    loadSkills,
    openRuntimes: (options) => openRuntimes({ home, ...(sandbox !== undefined && { sandbox }), ...options }),
    describeSandbox,
    examples: exampleSkills,
    project,
    close: () => rmSync(project, { recursive: true, force: true }),
  };
}

/** What a program does not see, for each thing that a sandbox can hold it to. */
const unseen: Partial<Record<Guarantee, string>> = {
  files: "your home and every other file of yours",
  environment: "your environment variables",
  processes: "other programs that run",
  network: "the network, this machine included",
};

/** Says in words where scripts run, and what they see there and what not. */
export async function describeSandbox(runtimes: Pick<Runtimes, "findSandbox">): Promise<string> {
  try {
    const { name, enforces } = await runtimes.findSandbox();
    if (name === "off") return "There was no sandbox, because you turned it off: the script could see all that you can";
    const hidden = Object.entries(unseen).filter(([guarantee]) => enforces.has(guarantee as Guarantee));
    return [
      `It ran in the sandbox ${name}.`,
      "  It saw:         its skill's folder and the project, both read-only, basic programs, an empty /tmp",
      ...hidden.map(([, what], index) => `  ${index === 0 ? "It did not see:" : "               "} ${what}`),
    ].join("\n");
  } catch (cause) {
    if (!isKitbagError(cause, "sandbox-missing")) throw cause;
    return "No sandbox works on this machine, so nothing was run: kitbag doctor says what is missing and how to get it";
  }
}
