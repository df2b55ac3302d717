import { KitbagError, type UntilThen, isKitbagError } from "../../../core/errors.ts";
import { isRecord, type JsonObject } from "../../../core/json.ts";
import { contentKey } from "../../../core/mcp-source.ts";
import type { ScriptCode } from "../../../core/script-code.ts";
import type { Tool } from "../../../core/tool.ts";
import type { ExitStatus, Limits } from "../../../sandbox/sandbox.ts";
import { refuseReplaced } from "../../../sandbox/watch-shields.ts";
import { parseOutput, withoutLineEnd } from "../../parse-exactly.ts";
import { findHint } from "./find-hint.ts";

/** How a script ended, and what it said. */
export interface Ending extends Said {
  readonly exit: ExitStatus;
  readonly limits: Limits;
  /** The folder that the caller works in, if a hint may look into it. */
  readonly directory?: string | undefined;
  /** What Kitbag answered when it refused something to the script, the last time. */
  readonly refused?: KitbagError;
}

/**
 * The output of a script that ended well: what it printed, without the line break that ends it, or the JSON that it is if the tool
 * says what it answers.
 *
 * @throws {KitbagError} `script-failed`, `memory-exceeded`, `grant-changed` or `output-invalid`; `quota-reached` if it ended because
 *   of that.
 */
export function toResult(tool: Tool, code: ScriptCode, ending: Ending): unknown {
  const { exit, stdout, show } = ending;
  if (exit.code !== 0) throw toScriptError(tool, code, ending);
  if (tool.outputSchema !== undefined) return show(parseOutput(tool, stdout, show));
  return show(parseContent(stdout) ?? withoutLineEnd(stdout));
}

/** Whether a text begins as {@link parseContent} reads it. */
export function startsContent(text: string): boolean {
  return /^\s*\{\s*"\$content"/u.test(text);
}

/**
 * The content that a script without an output schema printed: `{ "$content": [ … ] }`, pictures and other blocks for the caller. Anything
 * else is text, also what would lead the client to files of its own machine or to pages that run in it: a script in a sandbox must not
 * reach by way of the client what it cannot reach itself.
 */
function parseContent(stdout: string): JsonObject | undefined {
  if (!startsContent(stdout)) return undefined;
  try {
    const printed: unknown = JSON.parse(stdout);
    const blocks = isRecord(printed) && Object.keys(printed).length === 1 ? printed[contentKey] : undefined;
    return Array.isArray(blocks) && blocks.every(isHarmless) ? (printed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function isHarmless(block: unknown): boolean {
  if (!isRecord(block)) return true;
  const { type, uri, resource } = block;
  if (type === "resource_link") return typeof uri === "string" && /^(?:https?|kitbag):/iu.test(uri);
  return !isRecord(resource) || !/^\s*(?:ui|file):/iu.test(String(resource["uri"]));
}

/** Last words of interpreters that got no more memory, where the limit refuses it instead of ending the program. */
const outOfMemory =
  /(?:^|\n)MemoryError\b[^\n]*\n?$|JavaScript heap out of memory|\(NoMemoryError\)|^Out of memory!|Allowed memory size of \d+ bytes exhausted|not enough memory\n?$/u;

function toScriptError(tool: Tool, code: ScriptCode, ending: Ending): KitbagError {
  const { exit, stdout, stderr, limits, show } = ending;
  if (exit.replaced !== undefined) return refuseReplaced(exit.replaced);
  if (exit.outOfMemory === true || outOfMemory.test(stderr)) {
    const untilThen = toUntilThen(ending);
    return new KitbagError("memory-exceeded", { tool: tool.name, limitBytes: limits.memoryBytes, untilThen });
  }
  const refused = findRefused(ending);
  // That is about the user, and not about the script.
  if (refused !== undefined && isKitbagError(ending.refused, "quota-reached")) return ending.refused;
  const hint = show(findHint(tool, code, ending));
  return new KitbagError("script-failed", {
    tool: tool.name,
    ...(exit.code !== undefined && { code: exit.code }),
    ...(exit.signal !== undefined && { signal: exit.signal }),
    stderr: lastErrors(ending),
    ...(stdout !== "" && { stdout: lastOutput(ending) }),
    ...(refused !== undefined && { refused }),
    ...(hint !== undefined && { hint }),
  });
}

/** Why the script failed, if its last words are what it was answered: it did not handle that. Longer answers are not repeated. */
function findRefused(ending: Ending): string | undefined {
  const { message } = ending.refused ?? {};
  if (message === undefined || message.includes("\n")) return undefined;
  const refused = ending.show(message);
  return lastErrors(ending).includes(refused) ? refused : undefined;
}

/** What a script said. */
interface Said {
  readonly stdout: string;
  readonly stderr: string;
  /** Takes secrets out of whatever is shown. */
  readonly show: <Value>(value: Value) => Value;
}

const longestStderr = 2000;
const mostLines = 20;
const longestStdout = 6000;

/** The end of what a script that was stopped had said until then. */
export function toUntilThen(said: Said): UntilThen {
  const [stdout, stderr] = [lastOutput(said), lastErrors(said)];
  return { ...(stdout !== "" && { stdout }), ...(stderr !== "" && { stderr }) };
}

/** The last part of stdout. */
function lastOutput({ stdout, show }: Said): string {
  return lastPart(show(stdout), longestStdout);
}

/** The last lines of stderr. */
function lastErrors({ stderr, show }: Said): string {
  return lastPart(show(stderr).trimEnd().split("\n").slice(-mostLines).join("\n"), longestStderr);
}

function lastPart(text: string, most: number): string {
  return text.length > most ? `…${text.slice(-most)}` : text;
}
