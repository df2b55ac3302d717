import { KitbagError } from "../../../core/errors.ts";
import { copyJson, isRecord, type JsonObject, type JsonValue } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import { toSchema, type SchemaSource } from "../../../core/schema/to-schema.ts";
import { checkLeniently } from "../../../core/schema/validator.ts";
import type { KeyValueStore } from "../../../core/store.ts";

/** What a model keeps in mind of a user, in a form that the program gives: one object, small enough to be shown in every run. */
export interface WorkingMemory {
  read(): Promise<JsonObject>;
  /**
   * Changes it: what `changes` has takes the place of what is there, objects are merged, and `null` takes a part out. Answers with
   * what it is then.
   *
   * @throws {KitbagError} `memory-invalid` if that does not fit the schema.
   */
  change(changes: JsonObject): Promise<JsonObject>;
}

/** The largest one, as JSON. */
const maxBytes = 16 * 1024;

/** Checks the schema of a working memory. @throws {KitbagError} `option-invalid` */
export function toWorkingSchema(source: SchemaSource): JsonSchema {
  const converted = toSchema(source, "input");
  if (converted.ok) return converted.json;
  const [problem] = converted.problems;
  throw new KitbagError("option-invalid", {
    option: "working",
    found: problem?.found ?? "something else",
    expected: problem?.expected ?? "a schema of an object",
  });
}

/** Makes the working memory that is kept in `kv` under `prefix`. */
export function createWorkingMemory(kv: KeyValueStore, prefix: string, schema: JsonSchema): WorkingMemory {
  const key = `${prefix}working`;

  return {
    async read() {
      const kept = (await kv.get(key))?.value;
      return isRecord(kept) ? kept : {};
    },
    async change(changes) {
      const kept = await kv.get(key);
      const merged = merge(isRecord(kept?.value) ? kept.value : {}, changes);
      const copy = copyJson(merged, { maxBytes, maxDepth: 16 });
      if (!copy.ok) throw invalid("more, or what is no JSON", `at most ${maxBytes} bytes of JSON`);
      const checked = checkLeniently(schema, copy.value);
      if (!checked.ok) {
        const [problem] = checked.problems;
        throw invalid(
          `${problem?.found ?? "something else"} in ${problem?.path || "it"}`,
          problem?.expected ?? "the schema",
        );
      }
      await kv.set(key, checked.value, { ifVersion: kept?.version ?? 0 });
      return checked.value as JsonObject;
    },
  };
}

function invalid(found: string, expected: string): KitbagError {
  return new KitbagError("memory-invalid", { what: "the working memory", found, expected });
}

/** Merges as JSON merge patches do (RFC 7396). */
function merge(into: JsonObject, changes: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(Object.entries(into));
  for (const [name, value] of Object.entries(changes)) {
    const before = merged.get(name);
    if (value === null) merged.delete(name);
    else if (isRecord(value)) merged.set(name, merge(isRecord(before) ? before : {}, value));
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
