import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { allKinds } from "../core/redaction/pattern-redactor.ts";
import { createOwnPrices } from "../models/prices/own-prices.ts";
import type { AgentOptions, RunLimits } from "./agent-options.ts";
import { checkMemoryOptions } from "./memory/memory-options.ts";

/**
 * Checks what `createAgent` was given.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkAgentOptions(options: AgentOptions): void {
  const { model, workspace, limits = {}, prices = {}, exposure = "auto", redactInput = false } = options;
  if (typeof model !== "string" && typeof model?.doStream !== "function")
    refuse("model", model, "a model, or the name of one");
  if (typeof workspace?.openSession !== "function") refuse("workspace", workspace, "a workspace");
  if (!["auto", "direct", "announce", "dispatch"].includes(exposure)) {
    refuse("exposure", exposure, '"direct", "announce", "dispatch" or "auto"');
  }
  if (!isRedactionChoice(redactInput)) {
    refuse("redactInput", redactInput, `true, false, or a list of ${allKinds.join(" and ")}`);
  }
  createOwnPrices(prices);
  checkLimitValues(limits);
  checkMemoryOptions(options.memory);
}

/** Checks limits. @throws {KitbagError} `option-invalid` */
export function checkLimitValues(limits: Partial<RunLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== "number" || !(value > 0)) refuse(`limits.${name}`, value, "a number above 0");
  }
}

function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}

function isRedactionChoice(choice: unknown): boolean {
  return typeof choice === "boolean" || (Array.isArray(choice) && choice.every((kind) => allKinds.includes(kind)));
}
