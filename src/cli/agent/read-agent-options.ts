import type { Command } from "commander";

import type { ExposureName, RunLimits } from "../../agent/agent-options.ts";
import type { Invocation } from "../cli-command.ts";
import { addModuleOption, addOption, addSkillsOption, getText } from "../options.ts";
import { addSandboxOption } from "../sandbox/choose-sandbox.ts";
import { addStoreOption } from "../store/choose-store.ts";
import { usageError } from "../usage-error.ts";
import { addModelOption } from "./choose-model.ts";

const exposures: readonly ExposureName[] = ["auto", "direct", "announce", "dispatch"];

/** Adds the options that every command has that runs an agent. */
export function addAgentOptions(command: Command): void {
  addModelOption(command);
  addOption(
    command,
    "--exposure <name>",
    `how the model sees tools of skills: ${exposures.join(", ")}; auto unless set`,
  );
  addOption(command, "--max-steps <n>", "ask the model so often, at most; 50 unless set");
  addOption(command, "--max-calls <n>", "make so many calls of tools, at most; 1000 unless set");
  addOption(command, "--max-tokens <n>", "stop when it has used so many tokens");
  addOption(command, "--max-cost <dollars>", "stop before it costs more");
  addOption(command, "--max-ms <n>", "stop after this time");
  command.option("--yes", "approve the calls that need an approval");
  addModuleOption(command);
  addSkillsOption(command);
  addSandboxOption(command);
  addStoreOption(command);
}

/** What the person says about every run. @throws {KitbagError} `usage-invalid` */
export function readAgentOptions({ options }: Pick<Invocation, "options">): {
  readonly exposure?: ExposureName;
  readonly limits: Partial<RunLimits>;
} {
  const given = getText(options, "exposure");
  const exposure = exposures.find((name) => name === given);
  if (given !== undefined && exposure === undefined) {
    throw usageError(`Cannot use --exposure ${given}: there are ${exposures.join(", ")}`);
  }
  const limits = {
    ...readNumber("maxSteps", "--max-steps", getText(options, "maxSteps"), /^\d{1,9}$/u),
    ...readNumber("maxCalls", "--max-calls", getText(options, "maxCalls"), /^\d{1,9}$/u),
    ...readNumber("maxTokens", "--max-tokens", getText(options, "maxTokens"), /^\d{1,12}$/u),
    ...readNumber("maxCost", "--max-cost", getText(options, "maxCost"), /^\$?\d{1,9}(?:\.\d{1,9})?$/u),
    ...readNumber("maxMs", "--max-ms", getText(options, "maxMs"), /^\d{1,12}$/u),
  };
  return { limits, ...(exposure !== undefined && { exposure }) };
}

function readNumber(
  name: keyof RunLimits,
  flag: string,
  text: string | undefined,
  form: RegExp,
): Partial<Record<keyof RunLimits, number>> {
  if (text === undefined) return {};
  const number = form.test(text) ? Number(text.replace("$", "")) : 0;
  if (number > 0) return { [name]: number };
  throw usageError(`Cannot use ${flag} ${text}: expected a ${name === "maxCost" ? "" : "whole "}number above 0`);
}
