import { existsSync } from "node:fs";
import { resolve } from "node:path";

import type { Workspace } from "../../workspace/workspace.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { TriedCall } from "../../forge/creation/run-examples.ts";
import { askThePerson } from "../call-options.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { addModuleOption, addOption, addSkillsOption, getText, addSandboxOption, readCount } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { noteUntrusted } from "../skills/load-reports.ts";
import { openProject, type Project } from "../open-project.ts";
import { renderTrials } from "../trials/render-trials.ts";
import type { Terminal } from "../terminal.ts";
import { createScratch, joinTested, tryTools, type TestedTool, type TryOptions } from "../trials/try-tools.ts";
import { untilInterrupted } from "../until-interrupted.ts";

/** `kitbag test`: whether tools do what their examples say. */
export const testCommand: CliCommand = {
  examples: [
    ["kitbag test", "run the examples of all tools that are found from here"],
    ["kitbag test skills/pdf-text", "those of one skill's folder; a folder with skills works too"],
    ["kitbag test count-words", "those of one tool, or of one skill, by name"],
    [
      "kitbag test --fuzz",
      "also try inputs made from the schemas: right ones must not crash, wrong ones must be refused",
    ],
    ["kitbag test --fuzz --runs 100 --seed 7", "more of them, and the same ones as the last time"],
    ["kitbag test --json | jq '.tools[] | select(.passed | not)'", "for programs; exit code 1 if something failed"],
  ],
  define(command) {
    command.argument("[what...]", "folders with skills, or names of tools and skills; without any, all that are found");
    command.option(
      "--fuzz",
      "make inputs from the schemas; only of tools that destroy nothing and reach nothing outside",
    );
    addOption(command, "--runs <n>", "with --fuzz: inputs of each kind for each tool (20)");
    addOption(command, "--seed <n>", "with --fuzz: which inputs; shown by each run");
    command.option("--yes", "approve the calls that need an approval");
    addModuleOption(command);
    addSkillsOption(command);
    addSandboxOption(command);
    addOption(
      command,
      "--store <where>",
      "keep records and state: sqlite:FILE, postgres://… or memory; by default nothing is left when it ends",
    );
  },
  async run(given) {
    const fuzz = readFuzz(given);
    const terminal = withoutRepeats(given.terminal);
    // What tools keep while they are tried is not what they keep for the person.
    const store = getText(given.options, "store") ?? "memory";
    const invocation = { ...given, terminal };
    const tested = await tryAll({ ...invocation, options: { ...given.options, store } });
    if (fuzz === undefined) return toAnswer(tested, terminal);
    // What made inputs leave behind is nothing that an example should find, nor the other way round: they begin with nothing.
    const made = await tryAll({ ...invocation, options: { ...given.options, store: "memory" } }, fuzz);
    return toAnswer({ ...tested, tools: joinTested(tested.tools, made.tools) }, terminal);
  },
};

interface Tested {
  readonly tools: readonly TestedTool[];
  readonly leftOut: readonly string[];
}

/** What is opened twice says the same things twice. */
function withoutRepeats(terminal: Terminal): Terminal {
  const said = new Set<string>();
  return {
    ...terminal,
    note(text) {
      if (!said.has(text)) terminal.note(text);
      said.add(text);
    },
  };
}

/** Opens the project anew and tries its tools: their examples, or inputs that are made. */
async function tryAll(invocation: Invocation, fuzz?: TryOptions["fuzz"]): Promise<Tested> {
  const scratch = createScratch();
  const { directory } = scratch;
  try {
    // Files that examples name are in the folder that is made for them.
    const project = openProject(invocation, { warm: true, directory, files: "allow" });
    try {
      return await test(project, { scratch, ...(fuzz !== undefined && { fuzz }) });
    } finally {
      await project.close();
    }
  } finally {
    scratch.remove();
  }
}

/** The skills in the folders that are named, and what else is named; nothing if all are meant. */
function findNames({ args, cwd }: Invocation, reports: readonly SkillReport[]): readonly string[] | undefined {
  if (args.length === 0) return undefined;
  return args.flatMap((word) => {
    const path = resolve(cwd, word);
    if (!existsSync(path)) return [word];
    const folder = toRealPath(path);
    return reports.flatMap(({ directory, skill }) =>
      skill !== undefined && isInside(directory, folder) ? [skill.name] : [],
    );
  });
}

async function test(project: Project, options: Pick<TryOptions, "scratch" | "fuzz">): Promise<Tested> {
  const { invocation, records } = project;
  const isFolder = (word: string): boolean => existsSync(resolve(invocation.cwd, word));
  const opened = await project.open({ directories: invocation.args.filter(isFolder) });
  const { workspace, options: configured, reports } = opened;
  noteUntrusted(reports, invocation.terminal);
  const names = findNames(invocation, reports);
  const call: CallOptions = {
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
    ...(records.user !== undefined && { user: records.user }),
    ...(configured.approve === undefined && { approve: askThePerson(invocation) }),
  };
  const tools = await untilInterrupted((signal) =>
    tryTools(workspace, {
      ...options,
      names,
      terminal: invocation.terminal,
      makeCall: (entry) => (input) => callOnce(workspace, entry, input, { ...call, signal }),
      onTool: (address, done, total) => invocation.terminal.showStatus(`${done + 1} of ${total}: ${address}`),
    }),
  );
  const isMeant = ({ name }: SkillReport): boolean =>
    names?.some((word) => word === name || word.startsWith(`${name}/`)) ?? true;
  return { tools, leftOut: findLeftOut(reports.filter(isMeant)) };
}

function toAnswer({ tools, leftOut }: Tested, terminal: Terminal): Answer {
  const isGood = tools.every(({ passed }) => passed) && leftOut.length === 0;
  return {
    document: { tools, leftOut, summary: summarise(tools) },
    text: [...leftOut.map(toPrintable), renderTrials(tools, terminal)].join("\n\n"),
    exitCode: isGood ? 0 : 1,
  };
}

/** Manifest tests that cannot be run: they make the command fail. */
function findLeftOut(reports: readonly SkillReport[]): readonly string[] {
  return reports.flatMap(({ name, diagnostics }) =>
    diagnostics.flatMap(({ code, message, file }) => (code === "test-invalid" ? [`${name}/${file}: ${message}`] : [])),
  );
}

async function callOnce(
  workspace: Workspace,
  { address }: RegisteredTool,
  input: unknown,
  options: CallOptions,
): Promise<TriedCall> {
  const lines: string[] = [];
  const start = performance.now();
  const outcome = await workspace.call(address, input, {
    ...options,
    onEvent(event) {
      if (event.type === "call-log") lines.push(event.message);
    },
  });
  return { outcome, stderr: lines.join("\n").slice(-4000), durationMs: Math.round(performance.now() - start) };
}

function summarise(tools: readonly TestedTool[]): object {
  const examples = tools.flatMap((tool) => tool.examples);
  return {
    tools: tools.length,
    passed: tools.filter(({ passed }) => passed).length,
    withoutExamples: tools.filter((tool) => tool.examples.length === 0).length,
    examples: examples.length,
    failed: examples.filter(({ status }) => status === "failed").length,
    declined: examples.filter(({ status }) => status === "declined").length,
    faults: tools.reduce((sum, { fuzz }) => sum + (fuzz?.faults.length ?? 0), 0),
  };
}

/** Enough to find the usual mistakes in a minute. */
const usualRuns = 20;

function readFuzz({ options }: Invocation): { readonly count: number; readonly seed: number } | undefined {
  const [runs, seed] = [getText(options, "runs"), getText(options, "seed")];
  if (options["fuzz"] !== true) {
    if (runs === undefined && seed === undefined) return undefined;
    throw usageError("Cannot use --runs or --seed alone: they belong to --fuzz");
  }
  return {
    count: readCount("--runs", runs, 10_000) ?? usualRuns,
    seed: readCount("--seed", seed, 2 ** 31 - 1) ?? Math.floor(Math.random() * 1_000_000),
  };
}
