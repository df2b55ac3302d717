import type { ToolOutcome } from "../../core/outcome.ts";
import { toPrintable } from "../printable.ts";
import type { Style, Terminal } from "../terminal.ts";
import { toShownCode, type TourKit, type TourStep } from "./tour-step.ts";

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
