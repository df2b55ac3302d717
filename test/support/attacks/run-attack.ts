import type { ToolOutcome } from "kitbag";

import { countProcesses, sleep, type Arena } from "./arena.ts";
import { toProgram, type Attack } from "./attack.ts";

/** How long what an attack started may take to vanish. */
const patienceMs = 3000;

/** Runs an attack, and answers with all that must not have happened. */
export async function runAttack(arena: Arena, planned: Attack): Promise<string[]> {
  const { bait, corner } = arena;
  const attack = corner.sandbox === "firejail" ? { ...planned, ...planned.firejail } : planned;
  const { language, isBrief = false, earlier, sibling, harm, against } = attack;
  if (earlier !== undefined) await arena.call({ language: "bash", program: earlier });
  const other = sibling === undefined ? undefined : await startSibling(arena, sibling);

  const { outcome, wasCold } = await arena.call({ language, program: toProgram(attack, bait), isBrief });

  const isConceded = against !== undefined && !arena.enforces.has(against);
  const problems = isConceded ? [] : judge(attack, outcome, bait.secret);
  if (other !== undefined) problems.push(...(await other.problems));
  if (arena.corner.way !== "cold" && wasCold) problems.push("it did not start in what was warm");
  if (!(await vanishes(bait.mark))) problems.push("a process went on");
  return [...problems, ...bait.findHarm(), ...[harm?.(bait) ?? []].flat()];
}

/** What is wrong with how it ended. */
function judge(
  { fails = [], mayEndWell = fails.length === 0 }: Attack,
  outcome: ToolOutcome,
  secret: string,
): string[] {
  const shown = JSON.stringify(outcome);
  const problems: string[] = [];
  if (shown.includes(secret)) problems.push(`a secret got out: ${shown}`);
  if (shown.includes("ESCAPED")) problems.push(shown);
  const isExpected =
    outcome.status === "failed" ? fails.includes(outcome.error.code) : mayEndWell && isContained(outcome.output);
  if (!isExpected) problems.push(`it ended otherwise than it must: ${shown}`);
  if (outcome.status === "failed" && outcome.error.message.trim() === "") problems.push("nobody says why it failed");
  return problems;
}

function isContained(output: unknown): boolean {
  return typeof output === "string" && output.trimEnd().endsWith("contained");
}

async function startSibling(arena: Arena, program: string): Promise<{ readonly problems: Promise<string[]> }> {
  const { promise: isReady, resolve: setReady } = Promise.withResolvers<void>();
  const ended = arena
    .call({ language: "bash", program, onOutput: (chunk) => String(chunk).includes("ready") && setReady() })
    .then(({ outcome }) => (outcome.status === "ok" ? [] : [`another call was harmed: ${JSON.stringify(outcome)}`]));
  await Promise.race([isReady, ended]);
  return { problems: ended };
}

async function vanishes(mark: string): Promise<boolean> {
  for (const start = performance.now(); performance.now() - start < patienceMs; await sleep(20)) {
    if (countProcesses(mark) === 0) return true;
  }
  return false;
}
