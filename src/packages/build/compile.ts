import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { KitbagError } from "../../core/errors.ts";
import type { Limits, Mount, Profile, Sandbox } from "../../sandbox/sandbox.ts";
import type { Build, Compiler } from "./compilers/compiler.ts";
import { runSandboxed, type SandboxedResult } from "./run-compiler.ts";

/** What {@link compile} compiles. */
export interface CompileJob {
  readonly options: {
    readonly sandbox: Sandbox;
    readonly limitMs?: number;
    readonly maxBytes?: number;
    readonly signal?: AbortSignal | undefined;
  };
  /** Relative to the skill's folder. */
  readonly source: string;
  readonly compiler: Compiler;
  readonly work: { readonly skill: string; readonly scratch: string };
  /** The crates that the tool is built of. @default none but those in its folder */
  readonly crates?: readonly Mount[];
}

const defaultLimitMs = 300_000;
const defaultMaxBytes = 16 * 1024 * 1024;

const limits: Limits = {
  memoryBytes: 2 * 1024 * 1024 * 1024,
  cpuSeconds: 300,
  processes: 256,
  openFiles: 1024,
  fileBytes: 256 * 1024 * 1024,
  temporaryBytes: 512 * 1024 * 1024,
};

/** Compilers write files; what comes out of the sandbox is what this prints, and what the compiler prints are messages. */
const script = '"$@" >&2 && exec cat -- "$KITBAG_OUTPUT"';

/**
 * Runs the compiler in the sandbox and answers with the bytes that it made.
 *
 * @throws {KitbagError} `build-failed` with what it said, if it does not come to an end that is good.
 */
export async function compile(job: CompileJob): Promise<Uint8Array> {
  const { options, source, compiler, work, crates = [] } = job;
  const { sandbox, limitMs = defaultLimitMs, maxBytes = defaultMaxBytes, signal } = options;
  const build = toBuild(job);
  const { argv, environment = {}, folder } = compiler.toCommand(build);
  const profile: Profile = {
    mounts: [...compiler.mounts, ...crates, { source: work.skill, target: build.directory }],
    programs: compiler.programs,
    environment: { ...environment, KITBAG_OUTPUT: build.output, TMPDIR: build.scratch },
    directory: build.directory,
    limits,
  };
  const command = ["/bin/sh", "-c", script, "build", ...argv];
  const result = await runSandboxed({ sandbox, profile, command, limitMs, maxBytes, signal });
  const ended = toReason(result, { program: compiler.program, limitMs, maxBytes });
  if (ended === undefined) return result.stdout;
  const reason = compiler.explain?.(result.stderr) ?? ended;
  const place = { directory: build.directory, ...(folder !== undefined && { folder }) };
  throw new KitbagError("build-failed", { source, reason, lines: toErrorLines(result.stderr, place) });
}

/** Without a sandbox there is no other place than that of the host. */
function toBuild({ options, source, work, crates: [crates] = [] }: CompileJob): Build {
  const isSame = options.sandbox.keepsPaths === true;
  const [directory, scratch] = isSame ? [work.skill, work.scratch] : ["/skill", "/tmp"];
  return {
    ...{ directory, source: `./${source}`, output: join(scratch, "module.wasm"), scratch },
    ...(crates !== undefined && { crates: isSame ? crates.source : crates.target }),
  };
}

interface Bounds {
  readonly program: string;
  readonly limitMs: number;
  readonly maxBytes: number;
}

function toReason({ exit, stopped }: SandboxedResult, { program, limitMs, maxBytes }: Bounds): string | undefined {
  if (stopped === "time") return `${program} was still running after ${limitMs / 1000} s`;
  if (stopped === "output") return `the module is larger than ${maxBytes} bytes`;
  if (stopped === "messages") return `${program} did not stop to print messages`;
  if (exit.outOfMemory === true) return `${program} needs more than ${limits.memoryBytes / 1024 ** 3} GB of memory`;
  if (exit.code === 0) return undefined;
  const signal = exit.signal ?? ((exit.code ?? 0) > 128 ? `signal ${(exit.code ?? 0) - 128}` : undefined);
  if (signal !== undefined) {
    return `${program} was ended by ${signal}; it may use ${limits.cpuSeconds} s of CPU time and ${limits.memoryBytes / 1024 ** 3} GB of memory`;
  }
  return `${program} says:`;
}

const maxLines = 30;
const linesBefore = 3;
const maxLineLength = 400;

/** Where a compiler worked. */
interface CompilerPlace {
  /** The skill's folder, as the compiler saw it. */
  readonly directory: string;
  /** What paths in messages are relative to, if not to that folder: a folder in it. */
  readonly folder?: string;
}

/**
 * What a compiler said, for the author of the source: paths relative to the skill's folder, no colours, and not more than can be
 * read, with the first error in it.
 */
export function toErrorLines(output: string, { directory, folder }: CompilerPlace): string[] {
  const lines = stripVTControlCharacters(output)
    .replaceAll(`${directory}/`, "")
    .split(/\r?\n/u)
    .map((line) => toPlace(line.trimEnd(), folder))
    .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)} …` : line));
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  const said = first === -1 ? [] : lines.slice(first, last + 1);
  if (said.length <= maxLines) return said;
  // What leads to an error may be long; the error is what counts.
  const error = said.findIndex((line) => /\berror\b/iu.test(line));
  const start = error < maxLines - 1 ? 0 : error - linesBefore;
  const shown = said.slice(start, start + maxLines);
  return [
    ...(start > 0 ? [`… ${start} lines before`] : []),
    ...shown,
    ...(start + maxLines < said.length ? [`… and ${said.length - start - maxLines} more lines`] : []),
  ];
}

/** `./src/a.c:1` → `src/a.c:1`, and `in src/a.ts(5,23)` of AssemblyScript as everybody else writes it. */
function toPlace(line: string, folder: string | undefined): string {
  const plain = line.replace(/(^|[\s"'(])\.\/(?=\S)/gu, "$1").replace(/ in (.+)\((\d+),(\d+)\)$/u, " in $1:$2:$3");
  return folder === undefined ? plain : plain.replace(/^(\s*(?:-->|:::) )(?!\/)/u, `$1${folder}/`);
}
