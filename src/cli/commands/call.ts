import type { ForgedTool } from "../../forge/forge-interface.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toCallOptions } from "../call-options.ts";
import { createCallView } from "../call-view.ts";
import type { Answer, CliCommand } from "../cli-command.ts";
import type { Debugging } from "../debug/debugging.ts";
import { type ToolInputOptions, toToolInput } from "../input/read-input.ts";
import type { Learning } from "../learn/learning.ts";
import { openProject, type Project } from "../open-project.ts";
import {
  addListOption,
  addModuleOption,
  addOption,
  addSandboxOption,
  addSkillsOption,
  addStoreOption,
} from "../options.ts";
import { failedAnswer } from "../report-error.ts";
import { findInputSchema, findScript, findSteps, isComplete, openSkillOf } from "../skills/open-skill-of.ts";
import { untilInterrupted } from "../until-interrupted.ts";

/** `kitbag call`: one call of one tool. */
export const callCommand: CliCommand = {
  examples: [
    ["kitbag call add --a 2 --b 3", "parameters as flags"],
    ["kitbag call search --tag new --tag cheap --filter.size 3 --no-sold", "lists, objects, switches"],
    [`kitbag call add --input '{"a": 2, "b": 3}'`, "parameters as JSON"],
    ["kitbag call csv-tools/to_json data.csv -o data.json", "as the command line of the tool's script"],
    ["cat notes.txt | kitbag call notes/count_words -- -", "what is piped in, for a script that reads it"],
    ["jq -n '{a: 2}' | kitbag call add --input - --b 3", "JSON from another program; a flag goes before it"],
    ["kitbag call add --input @numbers.json --json", "JSON from a file; the outcome as JSON"],
    ["kitbag call echo -- --json yes", "behind -- every flag belongs to the tool"],
    [
      "kitbag call --learn pdf-text/extract_text --pdf report.pdf",
      "which permissions would it need? You are asked to grant them",
    ],
    ["kitbag call --debug --break scripts/extract.py:12 pdf-text/extract_text --pdf report.pdf", "stop in its script"],
    ["kitbag call add --a 2 --store none", "record nothing of this call"],
    ["kitbag call pdf-text/extract_text --pdf report.pdf", "a skill's tool: the skill is opened for the call"],
    ["kitbag call report/build --data sales.csv --keep", "what it writes elsewhere is saved in this folder"],
  ],
  define(command) {
    command.argument("<address>", "the tool: its name, or owner/name");
    command.argument(
      "[flags...]",
      "its parameters, as flags, or as its script takes them; kitbag show <address> lists them",
    );
    addOption(command, "--input <json>", "its parameters, as JSON; - reads standard input, @file a file");
    addOption(command, "--limit-ms <n>", "end the call after this time");
    command.option("--yes", "approve the calls that need an approval");
    command.option("--keep", "save what the tool wrote elsewhere in this folder; nothing is overwritten");
    command.option("--learn", "run it with no grants, say what it needs, and grant that if you agree (--yes)");
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
    const { learn, debug } = invocation.options;
    const learning = learn === true ? (await import("../learn/learning.ts")).createLearning(invocation) : undefined;
    const debugging = debug === true ? (await import("../debug/debugging.ts")).createDebugging(invocation) : undefined;
    const project = openProject(invocation, { ...learning?.options, ...debugging?.options });
    try {
      const answer = await callTool(project, learning, debugging);
      return learning === undefined ? answer : await learning.toAnswer(answer);
    } finally {
      await project.close();
    }
  },
};

async function callTool(
  project: Project,
  learning: Learning | undefined,
  debugging: Debugging | undefined,
): Promise<Answer> {
  const { invocation, records } = project;
  const [address = "", ...words] = invocation.args;
  const { workspace, options, ...found } = await project.open({
    isThere: (configured) => isComplete(configured, address),
    asked: address,
  });
  // The call itself says what is wrong with an address that leads to no tool, open or closed.
  const schema = findInputSchema(workspace, address);
  const input = schema && (await toToolInput(schema, words, invocation, toInputOptions(workspace, address)));
  const skill = await openSkillOf(workspace, address, invocation.terminal);
  if (skill.status === "failed") return failedAnswer(skill.error);
  try {
    const tool = workspace.getTool(address);
    learning?.check(tool, input);
    debugging?.check(tool);
    const view = createCallView(invocation);
    const callOptions: CallOptions = {
      ...toCallOptions(invocation, options, records),
      namedBy: "person",
      ...(learning === undefined && { onEvent: view.onEvent }),
      ...(debugging !== undefined && { limitMs: debugging.limitMs }),
    };
    const outcome = await untilInterrupted((signal) =>
      workspace.call(address, input ?? {}, { ...callOptions, signal }),
    );
    const missing = tool === undefined ? [address] : findSteps(workspace, address).missing;
    const told = outcome.status === "failed" && missing.length > 0 ? missing : listOlder(address, found.forged);
    if (told.length > 0) {
      const { noteMissing } = await import("../skills/note-missing.ts");
      await noteMissing(told, { invocation, ...found });
    }
    if (outcome.files === undefined) return view.toAnswer(outcome);
    const { answerWritten } = await import("../written-files.ts");
    const read = (handle: string): Promise<Uint8Array> => workspace.readOutputBytes(handle, { user: callOptions.user });
    return await answerWritten({ ...outcome, files: outcome.files }, view.toAnswer, { invocation, address, read });
  } finally {
    await skill.close();
  }
}

function toInputOptions(workspace: Workspace, address: string): ToolInputOptions {
  const { readCommand, stdin } = findScript(workspace, address) ?? {};
  const files = workspace.getTool(address)?.tool.files ?? {};
  const readers = Object.keys(files).filter((name) => files[name] === "read");
  return { alsoKnown: ownFlags, readCommand, ...(stdin !== undefined && { stdin: { parameter: stdin, readers } }) };
}

/** The tool, if it was made here and is at an older version than its folder: the reason is told. */
function listOlder(address: string, forged: readonly ForgedTool[] = []): readonly string[] {
  return forged.some(({ name, status }) => name === address && status !== "live") ? [address] : [];
}

/** What other flags there are; a person may have meant one of them. */
const ownFlags = [
  "--input",
  "--limit-ms",
  "--yes",
  "--keep",
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
