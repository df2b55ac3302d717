import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { usageError } from "../../usage-error.ts";
import { withRun, type KnownRun } from "./go-on-with-run.ts";

/** Makes a run that is the same as another up to a step, and goes on with it. */
export async function forkRun(invocation: Invocation): Promise<Answer> {
  const { terminal, json, options } = invocation;
  const step = readStep(getText(options, "step"));
  const say = getText(options, "say");
  const work = async ({ open, run, toOptions, finish, toAnswer }: KnownRun): Promise<Answer> => {
    const given = await toOptions();
    const going = await open.agent.fork(run.id, step ?? run.steps, say === undefined ? {} : { say }, given);
    if (!json) terminal.note(`${going.id} goes on behind step ${step ?? run.steps} of ${run.id}\n`);
    return toAnswer(going, await finish(going));
  };
  return withRun(invocation, work, step);
}

function readStep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/u.test(text)) return Number(text);
  throw usageError(`Cannot use --step ${text}: expected a whole number; 0 is before the first answer`);
}
