import { needRuns, type AgentParts } from "../agent-parts.ts";
import { foldJournal, type Folded } from "../log/fold-journal.ts";
import { createRunLog } from "../log/open-run-log.ts";
import { rejoinConversation } from "../memory/conversations/open-conversation.ts";
import { countAnswer, countSummary } from "./ask-model.ts";
import { toParts, toRule } from "./prepare-run.ts";
import { RunState } from "./run-state.ts";
import { splitSkills } from "./told-skills.ts";
import type { RunStart } from "./run-start.ts";

/**
 * Makes a run ready that is in the store, as it was.
 *
 * @throws {KitbagError} `run-not-found`, `run-leased`, `run-ended`, and what is wrong with what it is given.
 */
export async function prepareResume(agent: AgentParts, start: RunStart): Promise<RunState> {
  const { options, id } = start;
  const runs = needRuns(agent.runs);
  // Before the lease is taken: an id that nobody knows would become a run.
  foldJournal(id, await runs.read(id, { limit: 10 }));
  const ready = await agent.models.get(options.model ?? agent.options.model);
  const kept = await runs.open(id);
  const session = agent.options.workspace.openSession();
  try {
    const folded = foldJournal(id, kept.past);
    const { start: begun } = folded;
    const { untold } = splitSkills(begun.skills, begun.messages);
    for (const skill of untold) await session.activateSkill(skill);
    const output = begun.output && toRule(begun.output);
    // A run that was made from another goes its own way.
    const isPart = begun.conversation !== undefined && begun.forkOf === undefined;
    const conversation = isPart ? rejoinConversation(agent.options.store, begun.conversation) : undefined;
    const asUser = options.user === undefined && begun.user !== undefined ? { user: begun.user } : {};
    const given = { ...start, options: { ...options, ...asUser } };
    const run = new RunState(
      toParts(agent, given, { ready, session, log: createRunLog(kept), output, conversation }),
      folded.messages,
    );
    await reopen(run, folded);
    restore(run, folded);
    return run;
  } catch (cause) {
    await Promise.all([session.close(), kept.close()]);
    throw cause;
  }
}

/** Opens what was open when the model was asked last. What a call has opened since then is opened when the call is recalled. */
async function reopen({ parts: { session, exposure } }: RunState, { start, answers }: Folded): Promise<void> {
  const open = new Set(answers.at(-1)?.skills ?? start.skills);
  for (const skill of session.getActiveSkills()) if (!open.has(skill)) await session.deactivateSkill(skill);
  for (const skill of open) await session.activateSkill(skill);
  // The conversation says it already.
  exposure.announcement();
}

/** Puts a run where it was. */
function restore(run: RunState, folded: Folded): void {
  for (const question of folded.questions) countAnswer(run, question);
  for (const compacted of folded.summaries) countSummary(run, compacted);
  run.earlier = folded.start.earlier;
  if (run.parts.conversation !== undefined) for (const message of folded.said) run.said.push(message);
  run.saidFrom = folded.saidFrom;
  run.isCompacted = folded.isCompacted;
  run.step = folded.answers.at(-1)?.step ?? 0;
  run.calls = folded.calls;
  run.unfinished = folded.unfinished;
  run.continued = folded.told.get("continue") ?? 0;
  run.mended = folded.told.get("output") ?? 0;
  for (const approval of folded.asked) run.asked.add(approval);
  for (const [approval, decided] of folded.decided) run.decided.set(approval, decided);
}
