import type { Command } from "commander";

import type { ExposureName, RunLimits } from "../../agent/agent-options.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { addModuleOption, addOption, addSkillsOption, getText, addSandboxOption, addStoreOption } from "../options.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Model } from "../../models/model.ts";

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

/** The ids that a conversation may have. @throws {KitbagError} `usage-invalid` */
export function checkConversationId(id: string): string {
  if (/^[\w.@:-]{1,100}$/u.test(id)) return id;
  throw usageError(
    `Cannot use ${JSON.stringify(id)} as the name of a conversation: use letters, digits, . _ - : @, at most 100`,
  );
}

/** Adds `--model` to a command that runs an agent. */
export function addModelOption(command: Command): void {
  addOption(
    command,
    "--model <name>",
    "which model answers: anthropic/…, openai/…, google/…, ollama/…, local; KITBAG_MODEL or the configuration unless set, else local",
  );
}

/** The model that the person names, by flag or environment, else the one of the configuration, else the offline one. */
export function chooseModel(
  { options, env }: Pick<Invocation, "options" | "env">,
  configured: Model | string | undefined,
): Model | string {
  const variable = env["KITBAG_MODEL"];
  return getText(options, "model") ?? (variable === undefined || variable === "" ? configured : variable) ?? "local";
}

/**
 * Finds out whether a model can be asked, before anything is begun.
 *
 * @throws {KitbagError} `usage-invalid` for what is no name of a model; `provider-missing`, `model-key-missing` and what else
 * keeps it from being asked.
 */
export async function checkModel(model: Model | string, env: Invocation["env"]): Promise<void> {
  // The offline model is always there: looking it up would only cost time.
  if (typeof model !== "string" || model === "local") return;
  const { resolveModel } = await import("../../models/resolve/resolve-model.ts");
  try {
    await resolveModel(model, { env });
  } catch (cause) {
    if (isKitbagError(cause, "model-name-invalid") || isKitbagError(cause, "provider-unknown")) {
      throw usageError(cause.message);
    }
    throw cause;
  }
}

/** What a model is called in messages. */
export function nameModel(model: Model | string): string {
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}
