import { createHash } from "node:crypto";

import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { Tool } from "../../core/tool.ts";

/** Words about a schema that do not change what fits it. */
const words = new Set(["title", "description", "examples", "$comment", "$schema", "$id"]);

/**
 * A digest of what a tool takes and gives, without the words about it: the same for two versions that can stand in for each
 * other.
 */
export function toolSignature(tool: Pick<Tool, "inputSchema" | "outputSchema">): string {
  const signature = [tool.inputSchema, tool.outputSchema ?? null];
  return `sha256:${createHash("sha256").update(toCanonical(signature, false)).digest("hex")}`;
}

/** JSON with sorted keys. Inside `properties` a name like "title" is a parameter, not a word about the schema. */
function toCanonical(value: unknown, isPropertyMap: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => toCanonical(item, false)).join(",")}]`;
  if (!isSchemaObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => isPropertyMap || !words.has(key));
  const pairs = keys.toSorted().map((key) => {
    const isMap = !isPropertyMap && (key === "properties" || key === "$defs" || key === "patternProperties");
    const inner =
      key === "required" && Array.isArray(value[key])
        ? (value[key] as string[]).toSorted((left, right) => (left < right ? -1 : 1))
        : value[key];
    return `${JSON.stringify(key)}:${toCanonical(inner, isMap)}`;
  });
  return `{${pairs.join(",")}}`;
}
