import { cloneJson, toCanonicalJson } from "../../core/json.ts";
import { checkExamples } from "../../core/check-tool.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { describeProblem, quote } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import type { Tool, ToolExample } from "../../core/tool.ts";
import type { SkillCode } from "../code/load-skill-code.ts";
import { findShellCommands } from "../document/find-shell-commands.ts";
import { createPositions } from "../document/positions.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { emptyManifest, type ManifestTest, type SkillManifest } from "../manifests/skill-manifest.ts";
import { checkDeclared } from "./check-declared.ts";
import { checkNeeds } from "./check-needs.ts";
import { checkTools } from "./check-tools.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport, ToolReport } from "./skill-report.ts";
import type { SkillPlace, SkillSources } from "./skill-sources.ts";
import { findOverruled, grantOf, type SkillHead, toHead, toSkill } from "./to-skill.ts";
import {
  type MakePipeline,
  toAgentTool,
  toCodeTool,
  toManifestTool,
  type ToolFrame,
  toScriptTool,
} from "./to-tools.ts";
import { toUses } from "./to-uses.ts";
import { showPath } from "../../platform/paths.ts";

/** What a report needs that is not in the files. */
export interface ReportParts {
  readonly makePipeline?: MakePipeline;
  /** What loading the skill's own code gave. @default it was not loaded */
  readonly code?: SkillCode;
}

/** Makes a skill, or the reasons why it cannot be loaded, from its files and the definitions in its code. */
export function toReport(given: SkillFacts, place: SkillPlace, { makePipeline, code }: ReportParts = {}): SkillReport {
  const facts = checkTools(given);
  const { path, folder } = place;
  const manifest = facts.manifest ?? { ...emptyManifest, file: "" };
  const sources = { facts, manifest, defined: code?.ok === true ? code.skill : undefined };
  const named = toHead(sources, place);
  const { name, description } = named;
  const read = [...facts.diagnostics, ...checkNeeds(facts)];
  const known = code?.ok === false ? [...read, code.diagnostic] : read;
  const fatal = known.some((one) => one.severity === "error");
  const head = { path, directory: folder.directory, name, scripts: facts.scripts };
  if (fatal || description === undefined || !isSkillName(name)) {
    const diagnostics = fatal ? known : [...known, findObstacle(name, description)];
    return { ...head, status: "skipped", diagnostics, tools: [] };
  }
  const frame = toFrame(named, folder, manifest);
  const made = makeTools(frame, sources, makePipeline);
  const taken = made.tools.map((tool) => tool.name);
  const used = toUses(sources, taken);
  const leftOut = [...facts.scriptDiagnostics, ...made.diagnostics].filter(({ code }) => isLoss.has(code));
  const whole = toSkill(sources, { ...named, description }, { folder, frame, tools: made.tools, used });
  const skill = leftOut.length === 0 ? whole : { ...whole, leftOut: leftOut.map(({ message }) => message) };
  const diagnostics = [
    ...known,
    ...facts.scriptDiagnostics,
    ...made.diagnostics,
    ...used.diagnostics,
    ...findUnknownTools(facts, made.tools, used.uses),
    ...findOverruled(sources, named),
    ...checkDeclared(facts.scripts, named.permissions, facts.manifest, name),
    ...checkCommands(facts.document, skill.commands),
    ...describeTrust(folder),
  ];
  const status = diagnostics.some((one) => one.severity !== "info") ? "warning" : "ok";
  return { ...head, status, diagnostics, tools: made.reports, skill };
}

/** What costs a tool that the skill's text may speak of. */
const isLoss: ReadonlySet<string> = new Set(["agent-invalid", "script-missing", "tool-file-missing", "tool-invalid"]);

function toFrame(
  { name, permissions, version }: SkillHead,
  folder: SkillFolder,
  { dependencies }: Pick<SkillManifest, "dependencies">,
): ToolFrame {
  const files = new Map(folder.files.map((file) => [file.path, file]));
  const { packages = [] } = grantOf(folder) ?? {};
  const listed = packages.length === 0 ? dependencies : addPackages(dependencies, packages);
  return { skill: name, directory: folder.directory, folder, files, permissions, version, dependencies: listed };
}

const npm = "npm:";

/** The packages that the manifest lists, and those that a person granted. */
function addPackages(listed: ListedDependencies = {}, packages: readonly string[]): ListedDependencies {
  const [forNode, forPython] = [packages.filter(isNpm), packages.filter((one) => !isNpm(one))];
  return {
    ...listed,
    ...(forPython.length > 0 && { python: [...(listed.python ?? []), ...forPython] }),
    ...(forNode.length > 0 && { npm: [...(listed.npm ?? []), ...forNode.map((one) => one.slice(npm.length))] }),
  };
}

function isNpm(name: string): boolean {
  return name.startsWith(npm);
}

/** The workspace itself is called "global". */
function isSkillName(name: string): boolean {
  return isName(name) && name !== "global";
}

function findObstacle(name: string, description: string | undefined): Diagnostic {
  const message =
    description === undefined
      ? "There is no description of what the skill does"
      : `"${name}" cannot be the name of a skill`;
  return { severity: "error", code: "skill-unusable", message, file: "SKILL.md" };
}

interface MadeTools {
  readonly tools: readonly Tool[];
  readonly reports: readonly ToolReport[];
  readonly diagnostics: readonly Diagnostic[];
}

function makeTools(
  frame: ToolFrame,
  { facts, manifest, defined }: SkillSources,
  makePipeline: MakePipeline | undefined,
): MadeTools {
  const listedFiles = new Set(manifest.tools.map((tool) => tool.file?.replace(/^\.\//u, "")));
  const derived = facts.scripts
    .filter((script) => !listedFiles.has(script.path))
    .flatMap((script) =>
      script.tools.filter((tool) => tool.hidden !== true).map((tool) => toScriptTool(frame, script, tool)),
    );
  const listed = manifest.tools
    .filter((tool) => tool.kind !== "reuse")
    .map((tool) => toManifestTool(frame, tool, { makePipeline }));
  const own = (defined?.tools ?? []).map((tool) => toCodeTool(frame, tool, facts.code ?? ""));
  const agents = (facts.agents ?? []).map((agent) => toAgentTool(frame, agent));
  const diagnostics: Diagnostic[] = [];
  const byName = new Map<string, { tool: Tool; report: ToolReport }>();
  // What a manifest says goes before what code says, and that before what was derived.
  for (const one of [...listed, ...own, ...derived, ...agents]) {
    if (!one.ok) diagnostics.push(one.diagnostic);
    else if (byName.has(one.tool.name)) diagnostics.push(duplicate(one.report, byName.get(one.tool.name)?.report));
    else byName.set(one.tool.name, one);
  }
  const kept = [...byName.values()];
  const tested = addTests(
    kept.map((one) => one.tool),
    manifest,
  );
  return {
    tools: tested.tools,
    reports: kept.map((one) => one.report),
    diagnostics: [...diagnostics, ...tested.diagnostics],
  };
}

function duplicate(lost: ToolReport, kept: ToolReport | undefined): Diagnostic {
  const message = `Left out the tool "${lost.name}" of ${lost.file ?? "the manifest"}: ${kept?.file ?? "the manifest"} already has one of this name`;
  const cure = "give one of them another name in scripts/manifest.yml";
  return { severity: "warning", code: "tool-duplicate", message, file: lost.file ?? "", cure };
}

/** Says which tools agents name that neither the skill has nor declares in `uses`: an agent does not see them. */
function findUnknownTools(
  { agents = [] }: SkillFacts,
  tools: readonly Tool[],
  uses: Skill["uses"],
): readonly Diagnostic[] {
  const known = new Set([...tools.map(({ name }) => name), ...uses.map(({ address }) => address)]);
  return agents.flatMap(({ name, file, tools: named = [] }): Diagnostic[] => {
    const unknown = named.filter((one) => !known.has(one) && !known.has(one.slice(one.indexOf("/") + 1)));
    if (unknown.length === 0) return [];
    const message = `The agent "${name}" does not see these tools, because the skill neither has nor uses them: ${unknown.map(quote).join(", ")}`;
    const cure = 'name tools of the skill, or list tools of others under "uses" in kitbag.toml';
    return [{ severity: "warning", code: "agent-tool-unknown", message, file, cure }];
  });
}

/** Arguments for every placeholder that a command can have. */
const anyArguments = "x ".repeat(1000);
/** How many commands are reported. */
const mostReported = 20;

/** Says which commands in the text of a skill are not run, whatever its arguments are. Runs nothing. */
function checkCommands(document: SkillDocument | undefined, commands: Skill["commands"]): Diagnostic[] {
  // Most texts have none; looking for them costs more than this.
  if (document === undefined || !/!`|[`~][ \t]*!/u.test(document.body)) return [];
  const positions = createPositions(document.body);
  const found = findShellCommands(document.body);
  const refused = (commands?.(anyArguments) ?? []).flatMap((command, index) => {
    const at = found[index];
    return command.ok || at === undefined ? [] : [{ ...at, ...command.answer }];
  });
  return refused.slice(0, mostReported).map(({ command, offset, reason, cure }): Diagnostic => {
    const { line, column } = positions.at(offset);
    const message = `The command ${quote(command)} is not run: ${reason}`;
    const place = { file: document.file, line: line + document.bodyLine - 1, column };
    return { severity: "info", code: "shell-not-run", message, ...place, ...(cure !== undefined && { cure }) };
  });
}

/** Tools with their tests, and what is wrong with tests that cannot be run. */
interface TestedTools {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Makes the tests of a manifest the examples of the tools that they name, before those that the instructions have. A test of a tool
 * that is not there, or that does not fit its schemas, is left out and says why.
 */
function addTests(tools: readonly Tool[], { tests = [], file }: SkillManifest): TestedTools {
  if (tests.length === 0) return { tools, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const names = tools.map(({ name }) => name);
  const byTool = new Map<string, ToolExample[]>();
  for (const [index, test] of tests.entries()) {
    const tool = tools.find(({ name }) => name === test.tool);
    const wrong = tool === undefined ? describeUnknown(test, names) : describeWrong(test, tool);
    if (wrong === undefined) byTool.set(test.tool, [...(byTool.get(test.tool) ?? []), toExample(test)]);
    else
      diagnostics.push({
        severity: "warning",
        code: "test-invalid",
        message: `Left out tests[${index}]: ${wrong}`,
        file,
      });
  }
  return { tools: tools.map((tool) => withExamples(tool, byTool.get(tool.name) ?? [])), diagnostics };
}

function describeUnknown({ tool }: ManifestTest, names: readonly string[]): string {
  const [nearest] = nearestNames(tool, names, 1);
  const known = names.length === 0 ? "it has none" : `its tools are ${names.join(", ")}`;
  return `the skill has no tool "${tool}"; ${nearest === undefined ? known : `did you mean "${nearest}"?`}`;
}

function describeWrong(test: ManifestTest, { name, inputSchema, outputSchema }: Tool): string | undefined {
  const problems = checkExamples([toExample(test)], inputSchema, outputSchema);
  if (problems.length === 0) return undefined;
  const [first, ...more] = problems.map((one) =>
    describeProblem({ ...one, path: one.path.replace("examples[0].", "") }),
  );
  return `it does not fit "${name}": ${[first, ...more].join("; ")}`;
}

function toExample({ description, input, output }: ManifestTest): ToolExample {
  const words = description === undefined ? {} : { description };
  return cloneJson({ ...words, input, ...(output !== undefined && { output }) });
}

function withExamples(tool: Tool, tests: readonly ToolExample[]): Tool {
  if (tests.length === 0) return tool;
  const inputs = new Set(tests.map(({ input }) => toCanonicalJson(input)));
  const others = tool.examples.filter(({ input }) => !inputs.has(toCanonicalJson(input)));
  return Object.freeze({ ...tool, examples: Object.freeze([...tests, ...others]) });
}

const mostNamed = 8;

/** Says that a folder may not run, and what changed since it could. */
function describeTrust({ directory, trust, code }: SkillFolder): Diagnostic[] {
  if (trust.status === "trusted") return [];
  const { changed } = trust;
  const more = changed.length > mostNamed ? `, and ${changed.length - mostNamed} more` : "";
  const message =
    changed.length === 0
      ? `Runs nothing until it is trusted: ${whyUntrusted(code, trust.removed)}`
      : `Runs nothing until it is trusted again: ${changed.slice(0, mostNamed).join(", ")}${more}`;
  const severity = changed.length === 0 ? "info" : "warning";
  const cure = `read it, then run: kitbag trust ${showPath(directory)}`;
  return [{ severity, code: "skill-untrusted", message, file: code ?? "SKILL.md", cure }];
}

function whyUntrusted(code: string | undefined, isRemoved = false): string {
  if (isRemoved) return "its trust was removed with kitbag trust --remove";
  return code === undefined ? "it came with the project" : `its ${code} runs in this process, with all your rights`;
}
