import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";

/**
 * Checks what is said about whether a write must be on disk.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkDurable(durable: unknown): void {
  if (durable === undefined || typeof durable === "boolean") return;
  throw new KitbagError("option-invalid", { option: "durable", found: showValue(durable), expected: "true or false" });
}
