import type { LearnReport } from "../../runtimes/learn/learn-report.ts";
import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toCallOptions } from "../call-options.ts";
import { createCallView } from "../call-view.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { createDebugging, type Debugging } from "../debug/debugging.ts";
import { noteForged } from "../forge/load-forged.ts";
import { noteOperation } from "../forge/operations.ts";
import { noteWaiting } from "../forge/waiting-drafts.ts";
import { toToolInput } from "../input/read-input.ts";
import { renderLearned } from "../learn/render-learned.ts";
import { startLog } from "../logs/start-log.ts";
import { addListOption, addModuleOption, addOption, addSkillsOption, getText, getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { failedAnswer } from "../report-error.ts";
import { addSandboxOption } from "../sandbox/open-cli-runtimes.ts";
import { findSteps, isComplete, openSkillOf } from "../skills/open-skill-of.ts";
import { noteUntrusted } from "../skills/load-reports.ts";
import { openWithSkills, type WorkspaceWithSkills } from "../skills/open-with-skills.ts";
import { addStoreOption } from "../store/choose-store.ts";
import { type OpenRecords, withRecords } from "../store/with-records.ts";
import type { Terminal } from "../terminal.ts";
import { untilInterrupted } from "../until-interrupted.ts";

/** `kitbag call`: one call of one tool. */
export const callCommand: CliCommand = {
  examples: [
    ["kitbag call add --a 2 --b 3", "parameters as flags"],
    ["kitbag call search --tag new --tag cheap --filter.size 3 --no-sold", "lists, objects, switches"],
    [`kitbag call add --input '{"a": 2, "b": 3}'`, "parameters as JSON"],
    ["jq -n '{a: 2}' | kitbag call add --input - --b 3", "JSON from another program; a flag goes before it"],
    ["kitbag call add --input @numbers.json --json", "JSON from a file; the outcome as JSON"],
    ["kitbag call echo -- --json yes", "behind -- every flag belongs to the tool"],
    ["kitbag call --learn pdf-text/extract_text --pdf report.pdf", "which permissions would it need?"],
    ["kitbag call --debug --break scripts/extract.py:12 pdf-text/extract_text --pdf report.pdf", "stop in its script"],
    ["kitbag call add --a 2 --store none", "record nothing of this call"],
    ["kitbag call pdf-text/extract_text --pdf report.pdf", "a skill's tool: the skill is opened for the call"],
  ],
  define(command) {
    command.argument("<address>", "the tool: its name, or owner/name");
    command.argument("[flags...]", "its parameters, as flags; kitbag show <address> lists them");
    addOption(command, "--input <json>", "its parameters, as JSON; - reads standard input, @file a file");
    addOption(command, "--limit-ms <n>", "end the call after this time");
    command.option("--yes", "approve the calls that need an approval");
    command.option("--learn", "grant nothing, and say which permissions the tool needs");
    command.option("--debug", "stop before the first line of the script, and ask what to do; h lists the commands");
    addListOption(
      command,
      "--break <place>",
      "with --debug: stop at this file:line [if condition]; may be given again",
    );
    addModuleOption(command);
    addSkillsOption(command);
    addSandboxOption(command);
    addStoreOption(command);
    command.allowUnknownOption();
  },
  async run(invocation) {
    const learning = invocation.options["learn"] === true ? createLearning(invocation) : undefined;
    const debugging = invocation.options["debug"] === true ? createDebugging(invocation) : undefined;
    return withRecords(invocation, { ...learning?.options, ...debugging?.options }, async (open) => {
      const answer = await callTool(invocation, { ...open, learning, debugging });
      return learning === undefined ? answer : learning.toAnswer(answer);
    });
  },
};

interface CallParts extends OpenRecords {
  readonly learning: Learning | undefined;
  readonly debugging: Debugging | undefined;
}

async function callTool(
  invocation: Invocation,
  { runtimes, records, learning, debugging }: CallParts,
): Promise<Answer> {
  const [address = "", ...words] = invocation.args;
  const { workspace, options, reports, forged } = await openWithSkills(invocation, {
    runtimes,
    complete: records.complete,
    module: getText(invocation.options, "module"),
    directories: getTexts(invocation.options, "skills"),
    isThere: (opened) => isComplete(opened, address),
  }).catch((cause: unknown) => {
    // Where nothing is configured, tools can still be made.
    noteOperation(address, invocation.terminal);
    throw cause;
  });
  await startLog(workspace, options, invocation);
  records.keepVersions(workspace);
  if (workspace.getTool(address) === undefined) {
    noteOperation(address, invocation.terminal);
    noteForged(forged, address, invocation.terminal);
    await noteWaiting(invocation, address);
    noteUntrusted(reports, invocation.terminal);
    noteSkipped(reports, address, invocation.terminal);
  }
  noteMissingSteps(workspace, { address, reports, forged }, invocation);
  const view = createCallView(invocation);
  const callOptions: CallOptions = {
    ...toCallOptions(invocation, options, records),
    ...(learning === undefined && { onEvent: view.onEvent }),
    ...(debugging !== undefined && { limitMs: debugging.limitMs }),
  };
  const given = await toInput(workspace.getTool(address), words, invocation);
  const skill = await openSkillOf(workspace, address, invocation.terminal);
  if (skill.status === "failed") return failedAnswer(skill.error);
  // The call itself says what is wrong with an address that leads to no tool, open or closed.
  const input = given ?? (await toInput(workspace.getTool(address), words, invocation)) ?? {};
  learning?.check(workspace.getTool(address));
  debugging?.check(workspace.getTool(address));
  const outcome = await untilInterrupted((signal) => workspace.call(address, input, { ...callOptions, signal }));
  await skill.close();
  return view.toAnswer(outcome);
}

interface Called extends Pick<WorkspaceWithSkills, "reports" | "forged"> {
  readonly address: string;
}

/** The call says which step of a pipeline is not there; here is why. */
function noteMissingSteps(workspace: Workspace, { address, reports, forged }: Called, { terminal }: Invocation): void {
  const { missing } = findSteps(workspace, address);
  if (missing.length > 0) noteUntrusted(reports, terminal);
  for (const step of missing) {
    noteForged(forged, step, terminal);
    noteSkipped(reports, step, terminal);
  }
}

/** What other flags there are; a person may have meant one of them. */
const ownFlags = [
  "--input",
  "--limit-ms",
  "--yes",
  "--learn",
  "--debug",
  "--break",
  "--module",
  "--skills",
  "--sandbox",
  "--store",
  "--log",
  "--json",
  "--help",
];

async function toInput(
  found: RegisteredTool | undefined,
  words: readonly string[],
  invocation: Invocation,
): Promise<unknown> {
  if (found === undefined) return undefined;
  return toToolInput(found.tool.inputSchema, words, invocation, { alsoKnown: ownFlags });
}

/** Says on standard error why a skill that was asked for is not there, or lacks the tool: the first thing that is wrong with it. */
function noteSkipped(reports: readonly SkillReport[], address: string, terminal: Pick<Terminal, "note">): void {
  const [owner] = address.split("/", 1);
  for (const { name, status, path, diagnostics } of reports) {
    const wrong =
      diagnostics.find(({ severity }) => severity === "error") ?? (status === "skipped" ? diagnostics[0] : undefined);
    if (name !== owner || wrong === undefined) continue;
    const what = status === "skipped" ? `The skill ${name} was skipped` : `The skill ${name} has something wrong`;
    terminal.note(`${toPrintable(`${what}: ${wrong.message}; for all of it, run: kitbag check ${path}`)}\n`);
  }
}

/** A call by which somebody learns what a tool needs. */
interface Learning {
  readonly options: Pick<RuntimesOptions, "onLearned">;
  /** @throws {KitbagError} `usage-invalid` for a tool that nothing could hold back. */
  check(found: RegisteredTool | undefined): void;
  /** Says what was learned; the call's own answer if nothing was. */
  toAnswer(answer: Answer): Answer;
}

/** Makes what `kitbag call --learn` needs. */
function createLearning({ cwd, terminal }: Invocation): Learning {
  let report: LearnReport | undefined;
  return {
    options: { onLearned: (learned) => (report = learned) },
    check(found) {
      if (found === undefined || found.tool.code.kind === "script") return;
      throw usageError(
        `Cannot learn what ${found.address} needs: only scripts run where they can be watched, and it is a ${found.tool.code.kind} tool`,
      );
    },
    toAnswer(answer) {
      if (report === undefined) return answer;
      return { document: { ...report, outcome: answer.document }, text: renderLearned(report, cwd, terminal) };
    },
  };
}
