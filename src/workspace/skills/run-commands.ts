import { toFailure, type ErrorCode, type Failure, type KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { CommandAnswer, SkillCommand, Skill } from "../../core/skill.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { toPlainText } from "../../skills/document/to-plain-text.ts";
import type { CallOptions } from "../call/call-options.ts";
import { cutText, shortenText } from "../../core/cut-text.ts";
import type { Found } from "../registry/registered-tool.ts";
import type { StartCall } from "../call/start-call.ts";
import { checkSkill, type Planner } from "./plan-activation.ts";

/** What commands are run with. */
export interface CommandRunner {
  readonly start: StartCall;
  readonly planner: Planner;
}

/** The most of an output that goes into the text, in characters. */
const longestOutput = 16_384;
/** The most that is said of a failure, in characters. */
const longestReason = 400;

/**
 * Runs the commands in the text of a skill, one after the other, the same way every call takes. The skill must be one that could
 * be opened. Never rejects: what does not work is an answer.
 */
export async function runCommands(
  skill: Skill,
  argumentText: string,
  { start, planner }: CommandRunner,
  options: CallOptions,
): Promise<readonly CommandAnswer[]> {
  const answers: CommandAnswer[] = [];
  for (const command of skill.commands?.(argumentText) ?? []) {
    answers.push(command.ok ? await run(command) : command.answer);
  }
  return answers;

  async function run({ tool, input }: Extract<SkillCommand, { ok: true }>): Promise<CommandAnswer> {
    const refuse = (): Failure | undefined => refuseSkill(skill, planner);
    const refused = refuse();
    // What cannot run is neither put up for approval nor recorded.
    if (refused !== undefined) return toMissed(refused);
    const address = `${skill.name}/${tool.name}`;
    const entry = { tool, address, wireName: address, source: "skill", owner: skill.name } as const;
    const found: Found = { ok: true, entry, injected: undefined, refuse };
    const request = { tool, input, options: { ...options, maxOutputBytes: Number.MAX_SAFE_INTEGER } };
    return toAnswer(await start(request, undefined, found));
  }
}

/** Why a skill may run nothing now; it may have changed while an approval was pending. */
function refuseSkill(skill: Skill, planner: Planner): Failure | undefined {
  try {
    if (planner.skills.get(skill.name) !== skill)
      return toFailure("skill-broken", { skill: skill.name, problems: replaced });
    checkSkill(skill, planner);
    return undefined;
  } catch (cause) {
    return (cause as KitbagError).toJSON();
  }
}

const replaced = [{ path: "", expected: "the skill as it was when it was used", found: "another version, or none" }];

function toAnswer(outcome: ToolOutcome): CommandAnswer {
  if (outcome.status === "failed") return toMissed(outcome.error);
  const text = toPlainText(toText(outcome.output));
  const output = cutText(text, longestOutput).trimEnd();
  return {
    status: "ran",
    output: text.length > longestOutput ? `${output}\n[cut: ${text.length} characters in all]` : output,
  };
}

/** A middleware may have made something else of it. */
function toText(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

/** Failures of a program that may have been running; with all others it was not started. */
const ofPrograms: ReadonlySet<ErrorCode> = new Set([
  "call-cancelled",
  "call-timeout",
  "memory-exceeded",
  "output-flooded",
  "script-failed",
]);

function toMissed({ code, message }: Failure): CommandAnswer {
  const line = toPlainText(message).replaceAll(/\s+/gu, " ").trim();
  return { status: ofPrograms.has(code) ? "failed" : "not-run", reason: shortenText(line, longestReason) };
}
