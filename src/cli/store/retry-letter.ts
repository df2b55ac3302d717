import { openDeadLetters, type RetryDeadOptions } from "../../workspace/failures/dead-letters.ts";
import { askThePerson } from "../approve-call.ts";
import { createCallView } from "../call-view.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { readInput } from "../input/read-input.ts";
import { getText, getTexts } from "../options.ts";
import { failedAnswer } from "../report-error.ts";
import { openSkillOf } from "../skills/open-skill-of.ts";
import { openWithSkills } from "../skills/open-with-skills.ts";
import { startLog } from "../logs/start-log.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { usageError } from "../usage-error.ts";
import { createLocalScopes } from "./local-scopes.ts";
import { withRecords, type OpenRecords } from "./with-records.ts";

/** Makes a call again that failed, as `kitbag call` makes it. */
export function retryLetter(invocation: Invocation): Promise<Answer> {
  return withRecords(invocation, {}, (open) => retry(invocation, open));
}

async function retry(invocation: Invocation, { runtimes, records }: OpenRecords): Promise<Answer> {
  const [id = ""] = invocation.args;
  const given = getText(invocation.options, "input");
  const input = given === undefined ? {} : { input: await readInput(given, invocation) };
  const { workspace, options } = await openWithSkills(invocation, {
    runtimes,
    complete: records.complete,
    module: getText(invocation.options, "module"),
    directories: getTexts(invocation.options, "skills"),
  });
  await startLog(workspace, options, invocation);
  records.keepVersions(workspace);
  if (options.store === undefined) throw usageError("Cannot retry a call from the store none: nothing is kept there");
  const dead = openDeadLetters(options.store);
  const { tool } = await dead.get(id);
  const skill = await openSkillOf(workspace, tool, invocation.terminal);
  if (skill.status === "failed") return failedAnswer(skill.error);
  const view = createCallView(invocation);
  const callOptions: RetryDeadOptions = {
    scopesOf: createLocalScopes(invocation, records.user),
    onEvent(event) {
      view.onEvent(event);
      // On a terminal the message says so.
      if (event.type === "call-kept" && !invocation.terminal.isWatched)
        invocation.terminal.note(`It is kept as ${event.letter}\n`);
    },
    ...(options.approve === undefined && { approve: askThePerson(invocation) }),
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
  };
  const outcome = await untilInterrupted((signal) => dead.retry(workspace, id, { ...callOptions, ...input, signal }));
  await skill.close();
  return view.toAnswer(outcome);
}
