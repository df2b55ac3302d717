import { resolve } from "node:path";

import type { ExposureName } from "../../../agent/agent-options.ts";
import type { TaskStart } from "../../../agent/events.ts";
import { isKitbagError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type Invocation, usageError } from "../../cli-command.ts";
import { getText, getTexts, showCommand } from "../../options.ts";
import { toShellWord, toShownPath } from "../../render.ts";
import { findNamedStore } from "../../store/choose-store.ts";
import { withKept } from "../../store/open-kept.ts";
import { findRoot, needRun } from "./read-run.ts";

/** Where the tools of a run came from, as its command was told; what is kept with it, so that it can be gone on with. */
export interface RunOrigin {
  /** The file of `--module`. */
  readonly module?: string;
  /** Folders with skills. */
  readonly skills?: readonly string[];
  readonly exposure?: ExposureName;
  /** Whether what is said is remembered across conversations. */
  readonly remembers?: boolean;
}

/** What a command was told about where the tools of its runs are; nothing if that is nothing. */
export function toOrigin(
  { options, cwd }: Pick<Invocation, "options" | "cwd">,
  { skills = [], exposure, remembers }: Omit<RunOrigin, "module">,
): JsonObject | undefined {
  const module = getText(options, "module");
  const origin = {
    ...(module !== undefined && { module: resolve(cwd, module) }),
    ...(skills.length > 0 && { skills: skills.map((folder) => resolve(cwd, folder)) }),
    ...(exposure !== undefined && { exposure }),
    ...(remembers === true && { remembers }),
  };
  return Object.keys(origin).length === 0 ? undefined : origin;
}

/** What is kept of where a run comes from. */
export function originOf({ origin = {} }: Pick<TaskStart, "origin">): RunOrigin {
  return origin;
}

/**
 * Finds out where the tools of the run come from that the first word names, unless the person says so: folders of skills are looked
 * at again, and what is in them runs only if it is trusted. A module runs in this process: only who names it has it run.
 *
 * @throws {KitbagError} `usage-invalid` if it had a module, and none is named.
 */
export async function recallOrigin(invocation: Invocation, step?: number): Promise<Omit<RunOrigin, "module">> {
  const { options, args, cwd } = invocation;
  const { module, ...origin } = await findOrigin(invocation, step);
  if (module !== undefined && getText(options, "module") === undefined) {
    const words = `--module ${toShellWord(toShownPath(module, cwd))}`;
    throw usageError(`Cannot go on with the run ${args[0]} without its tools: say where they are, as in ${words}`);
  }
  const { skills, ...rest } = origin;
  return getTexts(options, "skills").length > 0 || skills === undefined ? rest : { ...rest, skills };
}

/** What cannot be found yet is looked for again, with the store that the tools bring. */
async function findOrigin(invocation: Invocation, step: number | undefined): Promise<RunOrigin> {
  try {
    return await withKept(invocation, async ({ store }) =>
      originOf((await findRoot(store, await needRun(store, invocation.args[0] ?? "", { step }))).folded.start),
    );
  } catch (cause) {
    if (isKitbagError(cause)) return {};
    throw cause;
  }
}

/** The command that goes on with a run. What is kept with it need not be said again. */
export function renderResume(
  run: string,
  { module }: Pick<RunOrigin, "module">,
  { options, cwd }: Pick<Invocation, "options" | "cwd">,
  action: "resume" | "fork" = "resume",
): string {
  const words = module === undefined ? [] : ["--module", toShownPath(resolve(cwd, module), cwd)];
  return showCommand(["runs", action, run, ...words].map(toShellWord).join(" "), { options });
}

/** The commands that go on with a run. */
export interface NextCommands {
  readonly resume: string;
  /** Makes one of it that goes on where it ended. */
  readonly fork: string;
  /** Approves one of its calls. */
  approve(approval: string): string;
}

/** The commands that go on with a run of this command; none if nothing of it is kept. */
export function toNext(invocation: Pick<Invocation, "options" | "env" | "cwd">, run: string): NextCommands | undefined {
  const { options, cwd } = invocation;
  const { kind = "sqlite" } = findNamedStore(invocation) ?? {};
  if (kind === "none" || kind === "memory") return undefined;
  const module = getText(options, "module");
  const origin = module === undefined ? {} : { module };
  return {
    resume: renderResume(run, origin, { options, cwd }),
    fork: renderResume(run, origin, { options, cwd }, "fork"),
    approve: (approval) => showCommand(`approvals approve ${approval}`, { options }),
  };
}
