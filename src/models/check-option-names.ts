import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { nearestNames } from "../core/nearest.ts";

/** @throws {KitbagError} `option-invalid` if there is an option of another name: plain JavaScript can give anything. */
export function checkOptionNames(options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new KitbagError("option-invalid", { option: "options", found: showValue(options), expected: "an object" });
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const [nearest] = nearestNames(unknown, names);
  throw new KitbagError("option-invalid", {
    option: unknown,
    found: "an option that there is not",
    expected: nearest === undefined ? `one of ${names.join(", ")}` : `"${nearest}", or another that there is`,
  });
}
