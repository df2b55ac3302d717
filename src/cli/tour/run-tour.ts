import type { Terminal } from "../terminal.ts";
import { highlightCode } from "./highlight-code.ts";
import { renderShown } from "./render-shown.ts";
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
