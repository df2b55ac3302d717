import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { ScriptCode, ScriptCommand } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { Profile, Sandbox, SandboxProcess } from "../../sandbox/sandbox.ts";
import { makeWorkFolder, toWorkFolder, workTarget } from "../../sandbox/work-folder.ts";
import type { DebugOptions } from "../debug/debug-launcher.ts";
import { openCallFolder, type CallFolder } from "../files/call-folder.ts";
import { findFiles } from "../files/find-files.ts";
import { viewProject } from "../files/project-view.ts";
import { type Completed, completeProfile } from "./complete-profile.ts";
import { findInterpreter } from "./find-interpreter.ts";
import { followScript, type OutputLimits } from "./follow-script.ts";
import { coldLauncher, type Launch, type Launcher } from "./launch.ts";
import { type FindSecret, loadSecrets, type Secrets } from "./load-secrets.ts";
import { toResult } from "./output/to-result.ts";
import { isTypeScript, stripTypes } from "./strip-types.ts";

/** How scripts are run. */
export interface ScriptRuntimeOptions extends Partial<OutputLimits> {
  readonly sandbox: Sandbox;
  /**
   * What a tool may see and use: the bytes of its skill at `/skill`, and what was granted. The runtime adds the interpreter. The
   * same object for calls with the same rights saves work.
   */
  readonly toProfile: (tool: Tool, context?: RuntimeContext) => Profile | Promise<Profile>;
  /** A directory of this user for what is made once: TypeScript without its types. */
  readonly cache: string;
  /** Values for the names in a tool's permission `env`. @default none */
  readonly findSecret?: FindSecret;
  /** What starts scripts. @default a new sandbox for each */
  readonly launcher?: Launcher;
  /** Where named files are looked for, and private folders and locks are made. @default scripts are given no files */
  readonly files?: { readonly places: GrantPlaces; readonly directory: string; readonly locks: string };
  /** Which scripts are debugged, and a directory that no other user can enter. @default none */
  readonly debug?: DebugOptions & { readonly directory: string };
}

/** A runtime whose first call of a tool can be made ready. */
export interface ScriptRuntime extends Runtime {
  /**
   * Makes ready what a call of the tool needs: its sandbox, and an interpreter that waits in it. Nothing of the script runs. Rejects as
   * a call would whose profile cannot be made.
   */
  prepare(tool: Tool): Promise<void>;
}

/**
 * Runs tools that are scripts, in a sandbox. The input becomes arguments and standard input as the tool says. The output is what
 * the script prints, exactly; the JSON that it prints if the tool has an output schema. What it prints is handed on while it
 * runs, lines on stderr are logged.
 */
export function scriptRuntime(options: ScriptRuntimeOptions): ScriptRuntime {
  const { sandbox, toProfile, findSecret = () => undefined, launcher = coldLauncher(sandbox) } = options;
  const { maxOutputBytes = 8 * 1024 * 1024, maxErrorBytes = 1024 * 1024 } = options;
  const limits = { maxOutputBytes, maxErrorBytes };
  const prepare = createPreparation(options);

  return {
    kind: "script",
    describe: () => ({ sandbox: sandbox.name }),
    ...(options.files !== undefined && toFindFiles(options.files)),
    async run(tool, input, context) {
      const code = tool.code as ScriptCode;
      if (code.needsSandbox === true && sandbox.name === "off") throw refuseOff(tool);
      const [base, secrets] = await Promise.all([toProfile(tool, context), loadSecrets(tool, findSecret)]);
      const prepared = await prepare(tool, base);
      const { own, folder } = openFolder(options, prepared.profile, { tool, input, context });
      const completed = { ...prepared, profile: own };
      const { profile } = completed;
      try {
        const command = code.toCommand(folder?.input ?? (input as JsonObject));
        checkCommand(tool, command);
        context.signal.throwIfAborted();
        const starter = (await findDebugLauncher(options, tool, { context, show: secrets.show })) ?? launcher;
        const process = await start(tool, starter, toLaunch(code, command, { completed, secrets, folder }));
        const followed = await followScript({ tool, context, process, secrets, limits, folder, profile });
        await folder?.take();
        const directory = findCallerFolder(options, context);
        return toResult(tool, code, { ...followed, limits: profile.limits, show: secrets.show, directory });
      } catch (cause) {
        // It was ended, because its time was over or it took too much: what it wrote until then is not lost.
        await folder?.keep();
        throw cause;
      } finally {
        void folder?.remove();
      }
    },
    async prepare(tool) {
      if (launcher.prepare === undefined) return;
      const prepared = await prepare(tool, await toProfile(tool));
      const profile = toFolderProfile(options, prepared.profile);
      if (profile !== undefined) launcher.prepare({ ...prepared, profile, argv: [], env: {}, fill: async () => {} });
    },
  };
}

/** The profile of a call that names no files; `undefined` if it depends on the call. */
function toFolderProfile({ sandbox, files }: ScriptRuntimeOptions, base: Profile): Profile | undefined {
  if (files === undefined || sandbox.keepsPaths === true) return undefined;
  if (startsInFolder(base)) return { ...base, directory: toWorkFolder(workTarget).files };
  return viewProject(base, [])?.profile ?? base;
}

/** Whether a script starts in its private folder. */
function startsInFolder({ directory }: Profile): boolean {
  return directory === undefined || directory === "/tmp";
}

function toLaunch(
  { path }: ScriptCode,
  command: ScriptCommand,
  { completed, secrets, folder }: { completed: Completed; secrets: Secrets; folder: CallFolder | undefined },
): Launch {
  const { profile, interpreter } = completed;
  return {
    ...completed,
    argv: [...(interpreter.isScript === true ? [] : [`/skill/${path}`]), ...command.argv],
    env: { ...toOwnPlaces(profile, folder), ...secrets.values, ...command.env },
    ...(command.stdin !== undefined && { input: command.stdin }),
    ...(folder !== undefined && { fill: folder.fill, isOnce: folder.hasMounts }),
    ...(folder?.given !== undefined && { folder: folder.given }),
  };
}

function toFindFiles({ places }: Required<ScriptRuntimeOptions>["files"]): Pick<Required<Runtime>, "findFiles"> {
  return { findFiles: (tool, input, by) => findFiles(tool, input, by, places) };
}

/** Where a script has its home and temporary files: in its private folder, unless it was granted a part of the user's home. */
function toOwnPlaces({ environment }: Profile, folder: CallFolder | undefined): Readonly<Record<string, string>> {
  if (folder === undefined) return {};
  const { home, temporary } = folder.inside;
  return { ...(environment["HOME"] === undefined && { HOME: home }), TMPDIR: temporary };
}

/** The private folder of a call, and the profile with which the script starts in it, unless its permissions open the project. */
function openFolder(
  { sandbox, files: host }: ScriptRuntimeOptions,
  base: Profile,
  { tool, input, context: { files } }: { tool: Tool; input: unknown; context: RuntimeContext },
): { readonly own: Profile; readonly folder?: CallFolder } {
  if (host === undefined || files === undefined) return { own: base };
  const keepsPaths = sandbox.keepsPaths === true;
  const isDirectory = startsInFolder(base);
  // Where it would be at its own place, it could lie in a folder that was granted; a script that needs none gets none.
  if (keepsPaths && !isDirectory && files.named.length === 0) return { own: base };
  const given = keepsPaths ? makeWorkFolder(host.directory) : undefined;
  const inside = given ?? toWorkFolder(workTarget);
  const view = given === undefined ? viewProject(base, listTexts(input)) : undefined;
  const own = isDirectory ? { ...base, directory: inside.files } : (view?.profile ?? base);
  const options = { tool, input: input as JsonObject, files, inside, given, view, isDirectory: own !== base };
  return { own, folder: openCallFolder({ ...options, locks: host.locks }) };
}

/** The texts of an input that may be names of files: values, and what is in lists. */
function listTexts(input: unknown): readonly string[] {
  return Object.values(input as JsonObject).flatMap((value) => [value].flat().filter((one) => typeof one === "string"));
}

/** The folder that hints may look into: none of this machine for a caller on another one. */
function findCallerFolder({ files }: ScriptRuntimeOptions, context: RuntimeContext): string | undefined {
  return context.files?.by === "remote" ? undefined : files?.places.directory;
}

function refuseOff({ name, permissions }: Tool): KitbagError<"permission-refused"> {
  const reason = "it runs only in a sandbox, and the sandbox is off; use another one";
  return new KitbagError("permission-refused", {
    tool: name,
    permission: `run = ${JSON.stringify(permissions.run)}`,
    reason,
  });
}

interface Shown {
  readonly context: RuntimeContext;
  readonly show: Secrets["show"];
}

/** What starts a script that is debugged. */
async function findDebugLauncher(
  { debug, sandbox }: ScriptRuntimeOptions,
  tool: Tool,
  { context, show }: Shown,
): Promise<Launcher | undefined> {
  const asked = { tool: tool.name, call: context.id };
  if (debug === undefined || debug.wants?.(asked) === false) return undefined;
  const { debugLauncher } = await import("../debug/debug-launcher.ts");
  const { path: script } = tool.code as ScriptCode;
  return debugLauncher({ ...asked, sandbox, script, show, signal: context.signal, options: debug, ...debug });
}

async function start(tool: Tool, launcher: Launcher, launch: Launch): Promise<SandboxProcess> {
  try {
    return await launcher.start(launch);
  } catch (cause) {
    if (isTooLong(cause)) refuseSize(tool);
    throw cause;
  }
}

function isTooLong(cause: unknown): boolean {
  return cause instanceof Error && /E2BIG|Argument list too long/u.test(cause.message);
}

/** Finds what a script needs to run. Types are taken out of a folder once. */
function createPreparation(options: ScriptRuntimeOptions): (tool: Tool, base: Profile) => Promise<Completed> {
  const { sandbox, cache } = options;
  const stripped = new Map<string, Promise<string>>();

  function strippedOf(folder: string): Promise<string> {
    const found = stripped.get(folder) ?? stripTypes(folder, cache);
    stripped.set(folder, found);
    found.catch(() => stripped.delete(folder));
    return found;
  }

  return async (tool, base) => {
    const code = tool.code as ScriptCode;
    const folder = base.mounts.find(({ target }) => target === "/skill")?.source;
    if (folder === undefined) {
      throw new KitbagError("sandbox-failed", { sandbox: sandbox.name, reason: "the profile has no folder at /skill" });
    }
    const interpreter = findInterpreter(tool, code, folder);
    const needsStripping = interpreter.family === "node" && isTypeScript(code.path);
    return completeProfile(base, {
      interpreter,
      isOff: sandbox.keepsPaths === true,
      ...(needsStripping && { stripped: await strippedOf(folder) }),
    });
  };
}

/** What Linux takes for one argument, with the zero byte at its end; other systems only limit all of them together. */
const maxWordBytes = 128 * 1024;
/** What fits beside the words that start the sandbox. */
const maxAllBytes = 1536 * 1024;

/**
 * Refuses a command line that no operating system would pass on, before anything is started.
 *
 * @throws {KitbagError} `input-invalid`.
 */
function checkCommand(tool: Tool, { argv, env }: ScriptCommand): void {
  const words = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  let all = 0;
  for (const [index, word] of words.entries()) {
    if (word.includes("\0")) refuse(tool, "text without NUL characters", `one in argument ${index + 1}`);
    const bytes = Buffer.byteLength(word) + 1;
    if (bytes > maxWordBytes) {
      refuse(
        tool,
        `arguments of at most ${maxWordBytes - 1} bytes each: the operating system passes on no more; let the script read standard input or a file instead`,
        `one of ${bytes - 1} bytes`,
      );
    }
    all += bytes + 8;
  }
  if (all > maxAllBytes) refuseSize(tool, all);
}

/** The failure of a command line that the operating system found too long. */
function refuseSize(tool: Tool, bytes?: number): never {
  refuse(
    tool,
    "fewer or shorter arguments: the operating system passes on no more; let the script read standard input or a file instead",
    bytes === undefined ? "more than it takes" : `${bytes} bytes in all`,
  );
}

function refuse(tool: Tool, expected: string, found: string): never {
  throw new KitbagError("input-invalid", { tool: tool.name, problems: [{ path: "", expected, found }] });
}
