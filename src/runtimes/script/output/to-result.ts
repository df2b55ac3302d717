import { KitbagError, type UntilThen, isKitbagError } from "../../../core/errors.ts";
import type { ScriptCode } from "../../../core/script-code.ts";
import type { Tool } from "../../../core/tool.ts";
import { findProgram } from "../../../sandbox/programs.ts";
import type { ExitStatus, Limits } from "../../../sandbox/sandbox.ts";
import { refuseReplaced } from "../../../sandbox/watch-shields.ts";
import { parseOutput, withoutLineEnd } from "../../parse-exactly.ts";

/** How a script ended, and what it said. */
export interface Ending extends Said {
  readonly exit: ExitStatus;
  readonly limits: Limits;
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
  return show(tool.outputSchema === undefined ? withoutLineEnd(stdout) : parseOutput(tool, stdout, show));
}

/** Last words of interpreters that got no more memory, where the limit refuses it instead of ending the program. */
const outOfMemory =
  /(?:^|\n)MemoryError\b[^\n]*\n?$|JavaScript heap out of memory|\(NoMemoryError\)|^Out of memory!|Allowed memory size of \d+ bytes exhausted|not enough memory\n?$/u;

function toScriptError(tool: Tool, code: ScriptCode, ending: Ending): KitbagError {
  const { exit, stdout, stderr, limits } = ending;
  if (exit.replaced !== undefined) return refuseReplaced(exit.replaced);
  if (exit.outOfMemory === true || outOfMemory.test(stderr)) {
    const untilThen = toUntilThen(ending);
    return new KitbagError("memory-exceeded", { tool: tool.name, limitBytes: limits.memoryBytes, untilThen });
  }
  const refused = findRefused(ending);
  // That is about the user, and not about the script.
  if (refused !== undefined && isKitbagError(ending.refused, "quota-reached")) return ending.refused;
  const hint = findHint(tool, code, ending);
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

/** Ways in which interpreters say that a program is not there; the first group is its name. */
const missingPrograms: readonly RegExp[] = [
  /([\w.+-]+): command not found/u,
  /(?:^|\n)(?:[\w/.-]*sh|[\w/.-]+): (?:line )?\d+: ([\w.+-]+): not found/u,
  /env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory/u,
  /FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'/u,
  /spawn(?:Sync)? ([\w.+-]+) ENOENT/u,
  /No such file or directory - ([\w.+-]+) \(Errno::ENOENT\)/u,
  /Can't exec "([\w.+-]+)"/u,
];

const missingPackages: readonly (readonly [RegExp, string])[] = [
  [/ModuleNotFoundError: No module named '([\w.]+)'/u, "requirements.txt, or in a # /// script block"],
  [/Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w.-]+)'/u, "package.json"],
  [/cannot load such file -- ([\w/-]+)/u, "a folder of the skill"],
];

const noNetwork =
  /Temporary failure in name resolution|Name or service not known|EAI_AGAIN|ENOTFOUND|Network is unreachable|ENETUNREACH|Could not resolve host|getaddrinfo/u;
/** What sandboxes say when a granted path is not what was looked at a moment before. */
const replacedGrant =
  /^(?:bwrap: (?:Can't (?:get type of|find) source|Can't bind mount|Race condition)|kitbag: (?:sandbox: )?opening the granted path)/u;
const hintReplaced =
  "a granted path was replaced or removed while the sandbox was made, so nothing of the script ran; another tool may have done that: put the path back, and call again";
const noWriting = /Read-only file system|EROFS/u;

/** How a script that failed ended. */
interface FailedEnd {
  readonly exit: ExitStatus;
  readonly stderr: string;
}

/** What would let a script that failed go on, as far as its last words tell; nothing if they tell nothing. */
export function findHint(tool: Tool, code: ScriptCode, { stderr, exit }: FailedEnd): string | undefined {
  return (
    (replacedGrant.test(stderr) ? hintReplaced : undefined) ??
    hintProgram(tool, stderr) ??
    hintPackage(stderr) ??
    hintVariable(tool, code, stderr) ??
    hintNetwork(tool, stderr) ??
    hintWriting(tool, stderr) ??
    (exit.code === 127 ? hintNotFound : undefined)
  );
}

/** Shells say so when they did not find a program, even where the script hides their message. */
const hintNotFound =
  'exit code 127 means that a program was not found; add it to the skill\'s permissions: run = ["its name"]';

function hintProgram({ permissions }: Tool, stderr: string): string | undefined {
  const name = missingPrograms.map((pattern) => pattern.exec(stderr)?.[1]).find((found) => found !== undefined);
  if (name === undefined) return undefined;
  const isGranted = (permissions.run ?? []).includes(name);
  const isMissing = findProgram(name) === undefined;
  if (isGranted) return isMissing ? `the program ${name} is not on this machine; install it` : undefined;
  const grant = `add it to the skill's permissions: run = ["${name}"]`;
  return isMissing
    ? `the program ${name} is not on this machine; install it, and ${grant}`
    : `the program ${name} does not exist inside the sandbox; ${grant}`;
}

function hintPackage(stderr: string): string | undefined {
  for (const [pattern, place] of missingPackages) {
    const name = pattern.exec(stderr)?.[1];
    if (name !== undefined) return `the package ${name} does not exist inside the sandbox; name it in ${place}`;
  }
  return undefined;
}

function hintVariable({ permissions }: Tool, { environment }: ScriptCode, stderr: string): string | undefined {
  const name = environment.find((variable) => stderr.includes(variable));
  if (name === undefined) return undefined;
  return (permissions.env ?? []).includes(name)
    ? `the environment variable ${name} has no value; set it, or put it into the file of secrets`
    : `it may not see the environment variable ${name}; add it to the skill's permissions: env = ["${name}"]`;
}

function hintNetwork({ permissions }: Tool, stderr: string): string | undefined {
  if ((permissions.network ?? []).length > 0 || !noNetwork.test(stderr)) return undefined;
  return `it may not reach the network; add the hosts to the skill's permissions: network = ["host.example:443"]`;
}

function hintWriting({ permissions }: Tool, stderr: string): string | undefined {
  if (!noWriting.test(stderr)) return undefined;
  const { write = [] } = permissions;
  if (write.length > 0) {
    return `it may write only to ${write.join(", ")} and /tmp, and not to shielded files there (skills, .git, .env and others): name the exact path of one in the skill's permissions to open it, as in write = ["./.git"]`;
  }
  return `it may write only to /tmp; add the directory to the skill's permissions: write = ["/path"]`;
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
