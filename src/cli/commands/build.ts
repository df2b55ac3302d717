import { join } from "node:path";

import { isKitbagError, KitbagError, quote, type Failure } from "../../core/errors.ts";
import type { BuildProgress, BuiltTool } from "../../packages/build/build-tool.ts";
import type { Dependencies } from "../../packages/install/create-dependencies.ts";
import { toInstallOptions } from "../../packages/install/package-options.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { addSkillsOption, addSandboxOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { chooseSandbox, createInstallTeller } from "../sandbox/open-cli-runtimes.ts";
import { joinPackages, readPackages } from "../sandbox/read-packages.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { findBuilds, type SkillBuilds, type ToolBuild } from "../skills/find-builds.ts";
import { toShownPath } from "../render.ts";

/** `kitbag build`: the WASM modules of a skill, made from their sources. */
export const buildCommand: CliCommand = {
  examples: [
    ["kitbag build skills/checksum", "build what its kitbag.toml names a source for"],
    ["kitbag build checksum/crc32", "one tool, by its address"],
    ["kitbag build hello.c", "a file that is in no skill yet, into hello.wasm"],
    ["kitbag build skills --json", "the tools of all skills there; what became of each, as JSON"],
  ],
  define(command) {
    command.argument("<what>", "a skill's folder, a folder of skills, a skill's name, skill/tool, or a source file");
    addSkillsOption(command);
    addSandboxOption(command);
  },
  async run(invocation) {
    const skills = await findBuilds(invocation.args[0] ?? "", invocation);
    const name = chooseSandbox(invocation);
    const sandbox = await findSandbox(name === undefined ? {} : { name });
    try {
      const building = { invocation, sandbox, dependencies: openDependencies(invocation, sandbox) };
      const outcomes = await untilInterrupted((signal) => buildAll(skills, { ...building, signal }));
      return toAnswer(skills, outcomes, invocation);
    } finally {
      await sandbox.close();
    }
  },
};

interface Building {
  readonly invocation: Invocation;
  readonly sandbox: Sandbox;
  readonly dependencies: Dependencies;
  readonly signal: AbortSignal;
}

/** What fetches crates, from where the person or the configuration says. Most builds need none, so nothing is loaded before. */
function openDependencies(invocation: Invocation, sandbox: Sandbox): Dependencies {
  const named = readPackages(invocation);
  const home = resolveKitbagHome(invocation.env);
  return {
    async prepare(request, signal) {
      const { createDependencies } = await import("../../packages/install/create-dependencies.ts");
      const { packages = {} } = await loadTrustedOptions(invocation);
      const options = { sandbox, home, onProgress: createInstallTeller(invocation) };
      const dependencies = createDependencies({ ...options, ...toInstallOptions(joinPackages(packages, named)) });
      return dependencies.prepare(request, signal);
    },
  };
}

/** One after the other: compilers use all processors themselves. */
async function buildAll(skills: readonly SkillBuilds[], building: Building): Promise<BuildOutcome[]> {
  const outcomes: BuildOutcome[] = [];
  for (const { directory, tools } of skills) {
    for (const tool of tools) outcomes.push(await buildOne(directory, tool, building));
  }
  return outcomes;
}

async function buildOne(directory: string, tool: ToolBuild, building: Building): Promise<BuildOutcome> {
  const { buildTool } = await import("../../packages/build/build-tool.ts");
  const { invocation, sandbox, dependencies, signal } = building;
  const { address, source, language, output } = tool;
  const start = performance.now();
  const onProgress = ({ step, compiler, elapsedMs }: BuildProgress): void => {
    // What is fetched is shown as it comes.
    if (step === "fetch") return;
    const doing = step === "wait" ? "Waiting for another build of" : `Building with ${compiler}:`;
    invocation.terminal.showStatus(`${doing} ${address} (${Math.floor(elapsedMs / 1000)} s)`);
  };
  try {
    const built = await buildTool({
      ...{ sandbox, dependencies, directory, source, language, output, signal, onProgress },
      cacheDirectory: join(resolveKitbagHome(invocation.env), "cache", "wasm"),
      packagesFrom: [invocation.cwd],
    });
    return { address, source, ...built, elapsedMs: Math.round(performance.now() - start) };
  } catch (cause) {
    const error = signal.aborted ? cancelled(source) : cause;
    if (!isKitbagError(error)) throw error;
    // Without a sandbox the next tool is not built either.
    if (error.code.startsWith("sandbox-")) throw error;
    return { status: "failed", address, source, error: error.toJSON() };
  }
}

function cancelled(source: string): KitbagError {
  return new KitbagError("build-failed", { source, reason: "it was cancelled", lines: [] });
}

function toAnswer(skills: readonly SkillBuilds[], outcomes: readonly BuildOutcome[], { cwd }: Invocation): Answer {
  const failures = outcomes.filter((outcome) => outcome.status === "failed");
  const status = failures.length === 0 ? "ok" : "failed";
  const failure = failures.map(({ address, error }) => `${quote(address)}: ${error.message}`).join("\n");
  return {
    document: { status, tools: outcomes },
    text: toPrintable(renderBuilds(skills, outcomes, cwd)),
    ...(failures.length > 0 && { failure: toPrintable(failure), exitCode: 1 }),
  };
}

/** What became of one tool. */
type BuildOutcome =
  | (BuiltTool & { readonly address: string; readonly source: string; readonly elapsedMs: number })
  | { readonly status: "failed"; readonly address: string; readonly source: string; readonly error: Failure };

const words = { built: "built", cached: "built before", current: "up to date", failed: "failed" } as const;

/** Shows what became of each module, and what to do then. */
function renderBuilds(skills: readonly SkillBuilds[], outcomes: readonly BuildOutcome[], cwd: string): string {
  return skills
    .flatMap((skill) => {
      const own = skill.tools.flatMap(({ address }) => outcomes.filter((outcome) => outcome.address === address));
      return [...own.map((outcome) => renderOutcome(outcome, skill, cwd)), ...renderTrust(skill, own, cwd)];
    })
    .join("\n");
}

function renderOutcome(outcome: BuildOutcome, { directory }: SkillBuilds, cwd: string): string {
  const head = `${outcome.address}: ${words[outcome.status]}`;
  if (outcome.status === "failed") return head;
  const { output, bytes, compiler, version, source, elapsedMs } = outcome;
  const path = toShownPath(join(directory, output), cwd);
  const how = outcome.status === "built" ? ` in ${(elapsedMs / 1000).toFixed(1)} s` : "";
  return `${head}${how}: ${path} (${toSize(bytes)}) from ${source}, by ${compiler} ${version}`;
}

/** A changed file is not what was trusted. */
function renderTrust(skill: SkillBuilds, outcomes: readonly BuildOutcome[], cwd: string): string[] {
  const hasChanged = outcomes.some(({ status }) => status === "built" || status === "cached");
  if (!hasChanged || !skill.needsTrust) return [];
  const path = toShownPath(skill.directory, cwd);
  return [`The skill ${skill.name} has changed, so it must be trusted again: kitbag trust ${path}`];
}

function toSize(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`;
}
