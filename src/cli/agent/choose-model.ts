import type { Command } from "commander";

import { isKitbagError } from "../../core/errors.ts";
import type { Model } from "../../models/model.ts";
import type { Invocation } from "../cli-command.ts";
import { addOption, getText } from "../options.ts";
import { usageError } from "../usage-error.ts";

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
  // The offline one is always there; to find it costs time that nobody needs to wait.
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
