import type { Answer, Invocation } from "../../cli-command.ts";
import { toPrintable } from "../../printable.ts";
import { withRun } from "./go-on-with-run.ts";

/** Goes through a run again without a model and without tools, and says whether it would be the same now. */
export async function replayRun(invocation: Invocation): Promise<Answer> {
  return withRun(invocation, async ({ open, run }) => {
    const report = await open.agent.replay(run.id);
    if (report.divergence === undefined) {
      return { document: report, text: `The same: ${report.steps} ${report.steps === 1 ? "step" : "steps"}` };
    }
    const { step, what, expected, found } = report.divergence;
    const text = [
      `Not the same at step ${step}: ${what}`,
      `  then: ${shorten(expected)}`,
      `  now:  ${shorten(found)}`,
    ].join("\n");
    return { document: report, text: toPrintable(text), exitCode: 1 };
  });
}

function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
