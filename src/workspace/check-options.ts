import { KitbagError } from "../core/errors.ts";
import { quote } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { nearestNames } from "../core/nearest.ts";
import type { WorkspaceOptions } from "./workspace.ts";

const expectations: {
  readonly [Name in keyof Required<WorkspaceOptions>]: readonly [(value: unknown) => boolean, string];
} = {
  tools: [isIterable, "a list of tools"],
  components: [isIterable, "a list of components"],
  skills: [isIterable, "a list of skills"],
  runtimes: [isIterable, "a list of runtimes"],
  limits: [isObject, "an object"],
  injected: [(value) => isObject(value) || typeof value === "function", "an object or a function"],
  secrets: [isSecrets, "an object of texts"],
  approve: [(value) => typeof value === "function", "a function"],
  store: [(value) => isObject(value) && "log" in value, "a store"],
};

/**
 * Checks what {@link createWorkspace} was given, as plain JavaScript can give anything.
 *
 * @throws {KitbagError} `option-invalid` for an unknown option or a wrong value. A value is never shown: it may be a secret.
 */
export function checkOptions(options: WorkspaceOptions): void {
  if (!isObject(options)) {
    throw new KitbagError("option-invalid", { option: "options", found: showValue(options), expected: "an object" });
  }
  for (const [option, value] of Object.entries(options)) {
    if (!Object.hasOwn(expectations, option)) {
      const [nearest] = nearestNames(option, Object.keys(expectations), 1);
      const expected = nearest === undefined ? `one of ${Object.keys(expectations).join(", ")}` : quote(nearest);
      throw new KitbagError("option-invalid", { option, found: "an unknown option", expected });
    }
    const [isRight, expected] = expectations[option as keyof WorkspaceOptions];
    if (value !== undefined && !isRight(value)) {
      throw new KitbagError("option-invalid", { option, found: `a ${typeof value} that is not one`, expected });
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isIterable(value: unknown): boolean {
  return isObject(value) && Symbol.iterator in value;
}

function isSecrets(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((secret) => typeof secret === "string");
}
