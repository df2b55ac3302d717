import { KitbagError } from "../../core/errors.ts";
import { findWrongOption, type Expectations } from "../find-wrong-option.ts";
import type { ForgetOptions, OutputCache } from "./output-cache.ts";

const expectations: Expectations<ForgetOptions> = {
  tool: [isText, "the address of a tool"],
  version: [isText, "the version of a tool"],
  tag: [isText, "a tag"],
};

/**
 * Forgets outputs that are kept to be used again.
 *
 * @throws {KitbagError} `option-invalid` for an unknown option: it would forget everything instead.
 */
export async function forgetOutputs(cache: OutputCache, which: ForgetOptions = {}): Promise<number> {
  const wrong = findWrongOption(which, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  return cache.forget(which);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
