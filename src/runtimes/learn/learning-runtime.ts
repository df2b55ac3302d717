import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { relative } from "node:path";

import { KitbagError, toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { ToolState } from "../../core/tool-state.ts";
import type { Tool } from "../../core/tool.ts";
import { isInside } from "../../platform/paths.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { findProgram, isBasicProgram } from "../../sandbox/programs.ts";
import type { Profile } from "../../sandbox/sandbox.ts";
import { scriptRuntime } from "../script/script-runtime.ts";
import type { Attempt, LearnReport, LearnRound } from "./learn-report.ts";
import { proposePermissions } from "./propose-permissions.ts";
import { openRecorder } from "./recorder.ts";
import { toAttempts } from "./to-attempts.ts";

/** How scripts are watched. */
export interface LearningOptions {
  readonly sandbox: FoundSandbox;
  /** Makes what a tool with these permissions may see and use. */
  readonly toProfile: (tool: Tool, context?: RuntimeContext) => Promise<Profile>;
  /** The working directory. */
  readonly directory: string;
  /** A directory for what is made once. */
  readonly cache: string;
  /** @default the home directory of this user */
  readonly home?: string;
  readonly onLearned: (report: LearnReport) => void;
  /** Whether strace may be used. @default true */
  readonly traces?: boolean;
}

/** A script that always asks for one thing more is not followed for ever. */
const mostRounds = 5;

/**
 * Runs scripts with nothing granted, and writes down what they try. A script that stops at the first file that is missing is run
 * again with the files that it wanted to read, if they are there and hide nothing; it never gets a way out, a place to write, a
 * variable or a program. The output is that of the last round.
 */
export function learningRuntime(options: LearningOptions): Runtime {
  const traces = (options.traces ?? true) && findProgram("strace") !== undefined;
  const { home = homedir() } = options;
  return {
    kind: "script",
    describe: () => ({ sandbox: options.sandbox.name }),
    async run(tool, input, context) {
      if (options.sandbox.keepsPaths === true) {
        throw new KitbagError("sandbox-weak", {
          sandbox: options.sandbox.name,
          lacks: ["what it takes to watch a script"],
        });
      }
      const attempts = new Map<string, Attempt>(readStatic(tool).map((attempt) => [toKey(attempt), attempt]));
      const rounds: LearnRound[] = [];
      for (let read: readonly string[] = []; ;) {
        const run = await runRound(
          { tool, input, context, read, round: rounds.length + 1 },
          { ...options, home },
          traces,
        );
        for (const attempt of run.attempts) keep(attempts, attempt);
        rounds.push({ read, ...(run.failure !== undefined && { failure: run.failure }) });
        const next = toReadable([...attempts.values()], { ...options, home });
        const isDone = next.length === read.length || rounds.length === mostRounds || context.signal.aborted;
        if (!isDone) {
          read = next;
          continue;
        }
        options.onLearned(
          toReport(tool, { attempts: [...attempts.values()], rounds, watchedBy: run.watchedBy }, { ...options, home }),
        );
        if (run.failure !== undefined) throw run.cause;
        return run.output;
      }
    },
  };
}

interface Round {
  readonly tool: Tool;
  readonly input: unknown;
  readonly context: RuntimeContext;
  readonly read: readonly string[];
  readonly round: number;
}

interface RoundResult {
  readonly attempts: readonly Attempt[];
  readonly watchedBy: LearnReport["watchedBy"];
  readonly output?: unknown;
  readonly failure?: string;
  readonly cause?: unknown;
}

async function runRound(
  { tool, input, context, read, round }: Round,
  options: LearningOptions & { readonly home: string },
  traces: boolean,
): Promise<RoundResult> {
  const { sandbox, directory, home, cache } = options;
  const recorder = await openRecorder({ sandbox, directory, round, traces });
  const permissions: Permissions = read.length === 0 ? {} : { read: read.map((path) => toScope(path, options)) };
  const watched: Tool = { ...tool, permissions };
  const runtime = scriptRuntime({
    sandbox,
    cache,
    launcher: recorder.launcher,
    toProfile: async (asked, asking) => recorder.toProfile(await options.toProfile(asked, asking)),
  });
  const places = { directory, home, exists, isWithheld, given: givenNames(tool, input) };
  const observe = (): Pick<RoundResult, "attempts" | "watchedBy"> => ({
    attempts: toAttempts(recorder.observe(), round, places),
    watchedBy: recorder.watchedBy,
  });
  try {
    const output = await runtime.run(watched, input, toWatchedContext(context));
    return { output, ...observe() };
  } catch (cause) {
    return { cause, failure: cause instanceof Error ? cause.message : String(cause), ...observe() };
  } finally {
    await recorder.close();
  }
}

/** What is named from the home is also found by a script that says ~. */
function toScope(path: string, { directory, home }: { readonly directory: string; readonly home: string }): string {
  return isInside(path, home) && !isInside(path, directory) ? `~/${relative(home, path)}` : path;
}

function givenNames(tool: Tool, input: unknown): ReadonlySet<string> {
  const { env } = (tool.code as ScriptCode).toCommand(input as Parameters<ScriptCode["toCommand"]>[0]);
  return new Set(Object.keys(env));
}

/** What can be seen in the script without running it. */
function readStatic(tool: Tool): Attempt[] {
  const { environment } = tool.code as ScriptCode;
  return environment.map((what) => ({ kind: "env", what, round: 0 }));
}

function toKey({ kind, what }: Attempt): string {
  return `${kind} ${what}`;
}

/** The first round in which it was seen counts; a list that comes later adds to it. */
function keep(attempts: Map<string, Attempt>, attempt: Attempt): void {
  const key = toKey(attempt);
  const known = attempts.get(key);
  const round = known === undefined || known.round === 0 ? attempt.round : known.round;
  attempts.set(key, { ...known, ...attempt, round });
}

/** What the next round may read: files that are there, in the working directory or in the open part of the home. */
function toReadable(attempts: readonly Attempt[], { directory, home }: { directory: string; home: string }): string[] {
  const isHidden = (path: string): boolean => !isInside(path, directory) && /\/\./u.test(path);
  return attempts
    .filter(({ kind, what, lists }) => kind === "read" && lists !== true && isFile(what))
    .map(({ what }) => what)
    .filter((path) => (isInside(path, directory) || isInside(path, home)) && !isHidden(path))
    .toSorted();
}

interface Learned {
  readonly attempts: readonly Attempt[];
  readonly rounds: readonly LearnRound[];
  readonly watchedBy: LearnReport["watchedBy"];
}

function toReport(
  tool: Tool,
  { attempts, rounds, watchedBy }: Learned,
  { directory, home }: { directory: string; home: string },
): LearnReport {
  const { permissions, notes } = proposePermissions(attempts, { directory, home, exists, isDirectory });
  return {
    tool: tool.name,
    watchedBy,
    rounds,
    attempts,
    permissions,
    notes: [...new Set([...notes, ...(watchedBy === "strace" ? [] : [`strace would see more: apt install strace`])])],
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Hooks see a program before it is known whether it exists. */
function isWithheld(name: string): boolean {
  return findProgram(name) !== undefined && !isBasicProgram(name);
}

/** What a script that is watched gets beside its input: it may look at its state, but nothing that it says or changes leaves it. */
function toWatchedContext(context: RuntimeContext): RuntimeContext {
  const { id, signal, injected, trace } = context;
  const call = async (tool: unknown): Promise<ToolOutcome> => {
    const reason = "while it is learned what a script needs, it calls no other tool";
    return { status: "failed", error: toFailure("approval-denied", { tool: String(tool), reason }) };
  };
  return {
    id,
    signal,
    injected,
    trace,
    state: toFrozenState(context.state),
    skillState: toFrozenState(context.skillState),
    progress() {},
    log() {},
    spend() {},
    chunk() {},
    onTimeout() {},
    availableTools: () => [],
    call,
  };
}

/** State that answers as if it were written to. */
function toFrozenState(state: ToolState): ToolState {
  return {
    get: (key) => state.get(key),
    read: (key) => state.read(key),
    list: (prefix, options) => state.list(prefix, options),
    set: async () => 1,
    delete: async () => true,
    compareAndSet: async () => true,
    update: async (key, change) => change(await state.get(key)),
  };
}
