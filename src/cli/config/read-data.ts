import { describeProblem, KitbagError } from "../../core/errors.ts";
import { copyJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import { checkStrictly } from "../../core/schema/validator.ts";

/**
 * Reads an option of a configuration that is data, also where the configuration is a program.
 *
 * @throws {KitbagError} `config-invalid` if it does not fit `schema`.
 */
export function readData(
  option: { readonly name: string; readonly value: unknown },
  schema: JsonObject,
  path: string,
): JsonValue {
  const refuse = (reason: string): KitbagError =>
    new KitbagError("config-invalid", { path, reason: `${option.name}: ${reason}` });
  const copy = copyJson(option.value, { maxBytes: 1024 * 1024, maxDepth: 16 });
  if (!copy.ok) throw refuse(copy.reason === "not-json" ? describeProblem(copy.problem) : "it is too large");
  const [problem] = checkStrictly(schema, copy.value);
  if (problem !== undefined) throw refuse(describeProblem(problem));
  return copy.value;
}
