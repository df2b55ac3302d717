import type { Diagnostic } from "../../core/diagnostics.ts";
import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill } from "../../core/skill.ts";
import type { SkillReport, ToolReport } from "../../skills/load/skill-report.ts";
import type { ScriptImport, ScriptInterface } from "../../skills/scripts/script-interface.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { toolTokens } from "../../workspace/skills/render-skills.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { describeFlags } from "../flags/describe-flags.ts";
import { addModuleOption, addSkillsOption, addSandboxOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { type Fact, toShownPath } from "../render.ts";
import { isEnforced, renderTool } from "../render-tool.ts";
import { openCliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { isComplete } from "../skills/open-skill-of.ts";
import { noteMissing } from "../skills/note-missing.ts";
import { openTools, type OpenTools, type OpenToolsOptions } from "../open-project.ts";
import { renderDiagnostics } from "../skills/render-diagnostics.ts";
import { renderSkill, renderSkipped, showSkill, toSkillDocument } from "../skills/show-skill.ts";

/** What is known about a skill's tool beyond the tool itself. */
interface ToolOrigin {
  readonly report: ToolReport;
  /** The script behind it; none for a pipeline or a WASM module. */
  readonly script?: ScriptInterface;
}

/** Finds where a skill's tool comes from; nothing for a tool that is of no folder. */
function findOrigin(reports: readonly SkillReport[], address: string): ToolOrigin | undefined {
  const skill = reports.find(
    (candidate) => candidate.skill !== undefined && candidate.tools.some((tool) => tool.address === address),
  );
  const report = skill?.tools.find((tool) => tool.address === address);
  if (skill === undefined || report === undefined) return undefined;
  const script = skill.scripts.find(({ path }) => path === report.file);
  return { report, ...(script !== undefined && { script }) };
}

const meanings = {
  declared: "the script or its author declares it",
  usage: "read from a usage text or from the code; check it",
  opaque: "unknown: it takes a list of words",
} as const;

/** The facts about where a tool comes from. */
function describeOrigin({ report, script }: ToolOrigin): Fact[] {
  return [
    ["script", report.file ?? ""],
    ["runs with", script?.interpreter.join(" ") ?? ""],
    ["confidence", `${report.confidence} (${report.source}): ${meanings[report.confidence]}`],
    ...(script === undefined ? [] : describeScript(script)),
  ];
}

/** What a script reads, needs and seems to touch. */
function describeScript({ environment, imports, access }: ScriptInterface): Fact[] {
  return [
    ["environment", environment.map(({ name, required }) => (required ? `${name} (required)` : name)).join(", ")],
    ["packages", imports.map(showImport).join(", ")],
    ["network", [...access.network, ...access.hosts].join(", ")],
    ["programs", access.programs.join(", ")],
  ];
}

/** As it is installed, and how it is imported if that is another name. */
function showImport({ name, package: installed, declaredIn = "not declared" }: ScriptImport): string {
  const from = name.toLowerCase() === installed ? "" : `imported as ${name}, `;
  return `${installed} (${from}${declaredIn})`;
}

/** `kitbag show`: everything about one tool or one skill. */
export const showCommand: CliCommand = {
  examples: [
    ["kitbag show add", "a tool: its flags, schema, permissions and examples"],
    ["kitbag show pdf-text --skills skills", "a skill: its tools, permissions, cost, and which scripts are no tools"],
    ["kitbag show pdf-text/extract_text", "a skill's tool: also where its schema comes from"],
    [
      "kitbag show fix-issue --text 42 high",
      "a skill's text as a model gets it; granted commands in it run in the sandbox",
    ],
    ["kitbag show math/add --json", "for programs"],
  ],
  define(command) {
    command.argument("<address>", "a tool (its name, or owner/name), or the name of a skill");
    command.argument("[arguments...]", "with --text: the arguments of the skill");
    command.option("--text", "only the skill's text, with its arguments and the output of its commands filled in");
    addModuleOption(command);
    addSkillsOption(command);
    addSandboxOption(command);
  },
  async run(invocation) {
    const { args, options, cwd, terminal } = invocation;
    const address = args[0] ?? "";
    if (options["text"] === true) return showFilledText(invocation, address);
    if (args.length > 1) throw usageError(`Cannot use ${args[1]}: only --text takes arguments`);
    const opened = await openTools(invocation, {
      isThere: (configured) => configured.getTool(address)?.address === address && isComplete(configured, address),
      offersShipped: true,
    });
    const { workspace, reports } = opened;
    const tool = workspace.getTool(address);
    const skill = workspace.getSkill(address);
    // A skill and one of its tools may share a name; the skill shows both.
    if (tool !== undefined && (skill === undefined || tool.address === address)) {
      return showTool(tool, findOrigin(reports, tool.address), invocation);
    }
    if (skill !== undefined) {
      const shown = showSkill(workspace, skill, reports, cwd);
      return { document: toSkillDocument(shown), text: renderSkill(shown, terminal) };
    }
    const skipped = reports.find((report) => report.skill === undefined && report.name === address);
    if (skipped !== undefined) return showSkipped(skipped, invocation);
    await noteMissing([address], { ...opened, invocation });
    return refuse(opened, address);
  },
};

async function showFilledText(invocation: Invocation, address: string): Promise<Answer> {
  const runtimes = openCliRuntimes(invocation);
  try {
    const wanted: OpenToolsOptions = {
      isThere: (configured) => configured.getSkill(address) !== undefined,
      offersShipped: true,
    };
    const { workspace } = await openTools(invocation, wanted, { runtimes });
    const skill = workspace.getSkill(address);
    if (skill !== undefined) return await showText(workspace, skill, invocation);
    const names = workspace.getSkills().map((state) => state.skill.name);
    const nearest = nearestNames(address, names);
    throw new KitbagError("skill-not-found", { skill: address, nearest, count: names.length });
  } finally {
    await runtimes.close();
  }
}

function showTool(found: RegisteredTool, origin: ToolOrigin | undefined, { terminal }: Invocation): Answer {
  const tokens = toolTokens(found);
  const facts = [
    ...(origin === undefined ? [] : describeOrigin(origin)),
    ["token cost", `≈ ${tokens} for its definition`] as const,
  ];
  return { document: toDocument(found, origin, tokens), text: renderTool(found, facts, terminal) };
}

function toDocument(found: RegisteredTool, origin: ToolOrigin | undefined, tokens: number): unknown {
  const { tool, address, wireName, source, owner } = found;
  const { refine: _, code, ...data } = tool;
  return {
    address,
    wireName,
    source,
    owner,
    runtime: code.kind,
    permissionsEnforced: isEnforced(tool),
    ...data,
    flags: describeFlags(tool.inputSchema),
    tokens,
    ...(origin !== undefined && toOriginDocument(origin)),
  };
}

function toOriginDocument({ report, script }: ToolOrigin): Record<string, unknown> {
  const { confidence, source: readFrom, file } = report;
  if (script === undefined) return { confidence, readFrom, file };
  const { interpreter, environment, imports, access } = script;
  return { confidence, readFrom, file, interpreter, environment, imports, access };
}

function showSkipped(report: SkillReport, { cwd, terminal }: Invocation): Answer {
  const path = toShownPath(report.path, cwd);
  const { name, status, diagnostics } = report;
  return { document: { name, status, path, diagnostics }, text: renderSkipped(report, path, terminal), exitCode: 1 };
}

function refuse({ workspace, reports }: OpenTools, address: string): never {
  const tools = [...workspace.getAvailableTools(), ...closedTools(workspace)];
  const namesakes = tools.filter(({ tool }) => tool.name === address).map((candidate) => candidate.address);
  if (namesakes.length > 1) throw new KitbagError("tool-ambiguous", { tool: address, addresses: namesakes });
  const names = [...tools.map((candidate) => candidate.address), ...reports.map(({ name }) => name)];
  throw new KitbagError("tool-not-found", {
    tool: address,
    nearest: nearestNames(address, new Set(names)),
    count: tools.length,
  });
}

function closedTools(workspace: Workspace): RegisteredTool[] {
  return workspace
    .getAllSkillToolStates()
    .filter(({ active }) => !active)
    .flatMap(({ skill, tools }) => tools.map(({ name }) => workspace.getTool(`${skill}/${name}`)))
    .filter((found) => found !== undefined);
}

/** Shows the text of a skill as a model gets it. Commands in it are run if they are granted, so the workspace needs runtimes. */
async function showText(workspace: Workspace, skill: Skill, invocation: Invocation): Promise<Answer> {
  const { args, cwd, json, terminal } = invocation;
  const { name, folder } = skill;
  const diagnostics: Diagnostic[] = [];
  const text = await workspace.invokeSkill(name, toArgumentText(args.slice(1)), {
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  });
  if (!json && diagnostics.length > 0) {
    const path = folder === undefined ? name : toShownPath(folder.directory, cwd);
    terminal.note(`${renderDiagnostics(diagnostics, path, terminal)}\n`);
  }
  return { document: { name, text, diagnostics }, text: toPrintable(text.trimEnd()) };
}

/** One word is what a person would type behind the name of the skill; several are kept apart. */
function toArgumentText(words: readonly string[]): string {
  if (words.length === 1) return words[0] ?? "";
  return words.map((word) => (/^[\w./:@%+,=-]+$/u.test(word) ? word : quoteWord(word))).join(" ");
}

function quoteWord(word: string): string {
  return `"${word.replaceAll(/["\\$`]/gu, String.raw`\$&`)}"`;
}
