import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { describeChanges } from "../../skills/trust/describe-changes.ts";
import { toDigests } from "../../skills/trust/folder-trust.ts";
import { loadTrust, trustPath } from "../../skills/trust/trust-file.ts";
import { watchFolders } from "../../skills/watch/watch-folders.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { lookAt } from "../config/find-trust-target.ts";
import { renderLookedAt } from "../config/render-trust.ts";
import { changedFiles, doubtEdit, findGitFolder, gitMarks, type Look, readMoves } from "../dev/own-edit.ts";
import { addSandboxOption, addSkillsOption } from "../options.ts";
import { renderJsonLine, toPrintable, toPrintableLine } from "../printable.ts";
import { toFailedAnswer } from "../report-error.ts";
import { toShellWord, toShownPath } from "../render.ts";
import { findSkillReport } from "../skills/load-reports.ts";
import { isYes } from "../terminal.ts";
import { isProjectPlace } from "../templates/write-project.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { checkCommand } from "./check.ts";
import { testCommand } from "./test.ts";
import { trustLooked } from "./trust.ts";

/** `kitbag dev`: checks, tests and trusts a skill while a person edits it. */
export const devCommand: CliCommand = {
  json: "one event a line",
  examples: [
    ["kitbag dev my-skill", "check and test it after each save, and trust what you edit; Ctrl-C ends it"],
    ["kitbag dev skills/my-skill", "a skill's folder works too"],
    ["kitbag dev my-skill --json", "for programs: one line after each change"],
  ],
  define(command) {
    command.argument("<skill>", "a skill's folder, or its name");
    addSkillsOption(command);
    addSandboxOption(command);
  },
  async run(invocation) {
    const { name, directory, path } = await findSkillReport(invocation.args[0] ?? "", invocation, "work on");
    const shown = toShownPath(path, invocation.cwd);
    const session: Session = { invocation, directory, path, shown, git: findGitFolder(directory), seen: "" };
    await look(session);
    if (session.good === undefined) throw new KitbagError("skill-untrusted", { skill: name, directory, changed: [] });
    say(session, { type: "watching", path: shown }, `\nWatching ${shown}; Ctrl-C ends it`);
    await untilInterrupted((signal) => follow(session, signal));
    return { document: undefined };
  },
};

/** Work on one skill. */
interface Session {
  readonly invocation: Invocation;
  /** With symbolic links resolved. */
  readonly directory: string;
  /** As it was found. */
  readonly path: string;
  /** The folder as it is shown. */
  readonly shown: string;
  readonly git: string | undefined;
  /** The last state that may run. */
  good?: Look;
  /** What was told last: the digest of the folder, or what is wrong with it. */
  seen: string;
}

/** Looks again after each change, one look after the other, until `signal`. */
async function follow(session: Session, signal: AbortSignal): Promise<void> {
  const { directory, git, invocation } = session;
  const again = (): Promise<void> => look(session);
  let turn = Promise.resolve();
  const watcher = watchFolders(() => {
    turn = turn.then(again);
  });
  // `kitbag trust` in another terminal, and moves of git, are changes, too.
  watcher.setFolders([directory], [...gitMarks(git), trustPath(resolveKitbagHome(invocation.env))]);
  // What happened before the watch began is seen now.
  turn = turn.then(again);
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  watcher.close();
  await turn;
}

/** Looks at the folder: nothing happens if no file is different. What is wrong with the skill is told, and not thrown. */
async function look(session: Session): Promise<void> {
  // Git writes files before it records its move.
  if (session.git !== undefined) await wait(settleMs);
  const now = await read(session);
  if (now === undefined) return;
  const { digest } = now.skill.folder;
  const { good, seen } = session;
  if (digest === good?.skill.folder.digest) session.good = now;
  // A change that was refused may have been trusted meanwhile.
  if (digest === good?.skill.folder.digest || (digest === seen && !isTrusted(session, now))) return;
  session.seen = digest;
  const changed = good === undefined ? [] : changedFiles(good.skill, now.skill);
  const trusted = await accept(session, now);
  if (changed.length > 0) say(session, { type: "change", files: changed, trusted }, `Changed: ${changed.join(", ")}`);
  if (!trusted) return;
  session.good = now;
  await judge(session);
}

async function read(session: Session): Promise<Look | undefined> {
  const { directory, invocation, git, shown } = session;
  const takenAt = Date.now();
  const moves = readMoves(git);
  try {
    const [skill] = (await lookAt({ path: directory, directories: [directory] }, invocation)).skills;
    if (skill !== undefined) return { skill, takenAt, moves };
    throw usageError(`Cannot work on ${shown}: it is not a skill any more`);
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    if (session.seen !== cause.message) say(session, { type: "broken", error: cause.toJSON() }, cause.message);
    session.seen = cause.message;
    return undefined;
  }
}

/** A folder that must be named in each command needs no trust, unless it was trusted. */
function isTrusted({ invocation, directory, path }: Session, { skill }: Look): boolean {
  const listed = loadTrust(resolveKitbagHome(invocation.env)).folders.get(directory);
  if (listed === undefined) return !isProjectPlace(path, invocation.cwd);
  return describeChanges(listed, toDigests(skill.folder.files)).length === 0;
}

/** Trusts what is there now, if it is an edit of the person, or if they say so. */
async function accept(session: Session, now: Look): Promise<boolean> {
  if (isTrusted(session, now)) return true;
  const doubt = session.good === undefined ? "it is not what was trusted" : doubtEdit(session.good, now);
  if (doubt !== undefined && !(await mayTrust(session, now, doubt))) return false;
  await trustLooked({ skills: [now.skill], skipped: [], others: [] }, session.invocation);
  return true;
}

/** Whether the person agrees to a change that may be another's. */
async function mayTrust(session: Session, now: Look, doubt: string): Promise<boolean> {
  const { terminal, cwd } = session.invocation;
  if (!terminal.canAsk) {
    const cure = `read it, then run: kitbag trust ${toShellWord(session.shown)}`;
    say(session, { type: "doubt", reason: doubt, cure }, `Not trusted: ${toPrintableLine(doubt)}; ${cure}`);
    return false;
  }
  terminal.note(`${renderLookedAt({ skills: [now.skill], skipped: [], others: [] }, cwd, terminal)}\n`);
  return isYes(await terminal.ask(`${toPrintableLine(doubt)}. Trust it as it is now? [y/N] `));
}

/** Checks and tests the skill, and prints the result. */
async function judge(session: Session): Promise<void> {
  const { invocation, directory } = session;
  const named = { ...invocation, args: [directory], options: { ...invocation.options, skills: [] } };
  const checked = await attempt(() => checkCommand.run(named));
  const tested = await attempt(() => testCommand.run(named));
  const passed = (checked.exitCode ?? 0) === 0 && (tested.exitCode ?? 0) === 0;
  const texts = [checked, tested].map(({ text, failure }) => [text, failure].filter(Boolean).join("\n"));
  say(session, { type: "result", passed, check: checked.document, test: tested.document }, texts.join("\n\n"));
}

function say({ invocation: { terminal, json } }: Session, event: object, text: string): void {
  terminal.print(`${json ? renderJsonLine(event) : toPrintable(text)}\n`);
}

/** How long git may take from the last file that it writes to the move that it records. */
const settleMs = 100;

async function attempt(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run();
  } catch (cause) {
    return toFailedAnswer(cause);
  }
}
