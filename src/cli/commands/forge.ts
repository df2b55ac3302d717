import { quote } from "../../core/errors.ts";
import { type Answer, type CliCommand, type Invocation, usageError, suggest } from "../cli-command.ts";
import { forgeOperations, type ForgeOperation } from "../forge/operations.ts";
import {
  addListOption,
  addModuleOption,
  addOption,
  addSkillsOption,
  addSandboxOption,
  addStoreOption,
} from "../options.ts";
import { renderTable } from "../render.ts";

/** `kitbag forge`: what MCP clients make tools with, for a person. */
export const forgeCommand: CliCommand = {
  examples: [
    ["kitbag forge", "what can be done"],
    ["kitbag forge create_tool --help", "the parameters of one operation, and an example"],
    [
      'kitbag forge create_tool --name count-words --language python --code @count.py --description "Counts words" --input-schema @input.json --examples @examples.json',
      "a tool out of files: @file reads one, @@ is an @; it is live once its examples pass",
    ],
    ["kitbag forge create_tool --input @draft.json --code @count.py", "the rest of the draft as JSON"],
    ["kitbag forge update_tool --name count-words --changes.code @count.py", "its next version"],
    [`kitbag forge execute_code --code @program.js --open pdf-text`, "a program that calls tools, one skill open"],
    ["kitbag forge tool_state --action list --tool count-words", "what a tool keeps"],
  ],
  define(command) {
    command.argument("[operation]", "what to do; kitbag forge lists all there is");
    command.argument("[flags...]", "its parameters, as flags; kitbag forge <operation> --help lists them");
    addOption(command, "--input <json>", "all of its parameters, as JSON; - reads standard input, @file a file");
    addListOption(command, "--open <skill>", "open this skill first, so that its tools can be called");
    addOption(command, "--limit-ms <n>", "end the operation after this time");
    command.option("--yes", "approve the calls that need an approval");
    addModuleOption(command);
    addSkillsOption(command);
    addSandboxOption(command);
    addStoreOption(command);
    command.allowUnknownOption();
  },
  async help(invocation) {
    const [name] = invocation.args;
    if (name === undefined || name.startsWith("-")) return undefined;
    const operation = findOperation(name);
    const { renderOperation } = await import("../forge/run-operation.ts");
    return renderOperation(operation, invocation);
  },
  async run(invocation) {
    const [name] = invocation.args;
    if (name === undefined) return listOperations(invocation);
    const operation = findOperation(name);
    const { runOperation } = await import("../forge/run-operation.ts");
    return runOperation(operation, invocation);
  },
};

function listOperations({ terminal }: Invocation): Answer {
  const operations = forgeOperations.map(({ name, summary }) => ({ name, summary }));
  const table = renderTable(
    ["OPERATION", "WHAT IT DOES"],
    operations.map(({ name, summary }) => [name, summary]),
    terminal,
  );
  return { document: { operations }, text: `${table}\n\nTo see how: kitbag forge <operation> --help` };
}

function findOperation(asked: string): ForgeOperation {
  const found = forgeOperations.find(({ name }) => name === asked);
  if (found !== undefined) return found;
  const names = forgeOperations.map(({ name }) => name);
  throw usageError(`Cannot do ${quote(asked)}: the forge has no such operation; ${suggest(asked, names)}`);
}
