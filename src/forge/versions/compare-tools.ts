import { type JsonSchema, isSchemaObject } from "../../core/schema/json-schema.ts";
import type { Tool } from "../../core/tool.ts";
import { toolSignature } from "../../skills/trust/tool-signature.ts";
import type { VersionStep } from "../forge-interface.ts";
import { describePermissions, isNothing, permissionsBeyond } from "../permissions-beyond.ts";

/** How far one version of a tool is from another, and why. */
export interface ToolChange {
  readonly step: VersionStep;
  readonly reasons: readonly string[];
}

/**
 * Compares what two versions promise: `major` if callers of the old one may fail with the new one, or if that may
 * touch more; `minor` if it takes or gives more; else `patch`.
 */
export function compareTools(before: Tool, after: Tool): ToolChange {
  const breaking = findBreaking(before, after);
  if (breaking.length > 0) return { step: "major", reasons: breaking };
  if (toolSignature(before) !== toolSignature(after)) {
    return { step: "minor", reasons: ["it takes or gives more than before"] };
  }
  return { step: "patch", reasons: ["it takes and gives the same"] };
}

function findBreaking(before: Tool, after: Tool): string[] {
  const wider = permissionsBeyond(after.permissions, before.permissions);
  return [
    ...findNarrowing({ from: before.inputSchema, to: after.inputSchema, isOpen: false }).map((one) => `input: ${one}`),
    ...compareOutputs(before.outputSchema, after.outputSchema).map((one) => `output, as it was promised: ${one}`),
    ...(isNothing(wider) ? [] : [`it may touch more: ${describePermissions(wider)}`]),
    ...compareAnnotations(before, after),
  ];
}

/** What comes must fit what was promised. Text and JSON are not the same to a caller. */
function compareOutputs(before: JsonSchema | undefined, after: JsonSchema | undefined): readonly string[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return ["it was text and is JSON"];
  if (after === undefined) return ["it was JSON and is text"];
  return findNarrowing({ from: after, to: before, isOpen: true });
}

function compareAnnotations({ annotations: before }: Tool, { annotations: after }: Tool): string[] {
  const reasons: string[] = [];
  if (before.readOnly === true && after.readOnly !== true) reasons.push("it is no longer read-only");
  if (before.idempotent === true && after.idempotent !== true) reasons.push("it is no longer idempotent");
  if (before.destructive !== true && after.destructive === true) reasons.push("it is destructive now");
  return reasons;
}

/** Words about a schema that do not change what fits it. */
const words = new Set(["title", "description", "examples", "default", "deprecated", "$comment", "$schema", "$id"]);

/** Limits that are stricter when they are greater, and when they are less. */
const lower = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
const upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];

const looked = new Set([
  ...words,
  ...lower,
  ...upper,
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "items",
  "additionalProperties",
]);

/** What two schemas are of. */
interface SchemaPair {
  readonly from: JsonSchema | boolean;
  readonly to: JsonSchema | boolean;
  /** Whether an object that does not say so takes properties that it does not list. */
  readonly isOpen: boolean;
  readonly path?: string;
}

/**
 * Why something that fits `from` may not fit `to`, in words; nothing if everything does. What cannot be told is counted as a
 * reason.
 */
function findNarrowing(pair: SchemaPair): readonly string[] {
  const { from, to, path = "" } = pair;
  if (toText(from) === toText(to) || to === true || (isSchemaObject(to) && toText(to) === "{}")) return [];
  if (!isSchemaObject(from) || !isSchemaObject(to)) return [`${show(path)} is restricted`];
  return [
    ...findTypes(from, to, path),
    ...findLimits(from, to, path),
    ...findObjects(from, to, pair),
    ...findItems(from, to, pair),
    ...findOthers(from, to, path),
  ];
}

function findTypes(from: JsonSchema, to: JsonSchema, path: string): readonly string[] {
  const values = valuesOf(to);
  const given = valuesOf(from);
  const reasons: string[] = [];
  if (values !== undefined && given === undefined) reasons.push(`${show(path)} takes only some values`);
  const gone = values === undefined ? [] : (given ?? []).filter((one) => !values.includes(one));
  if (gone.length > 0) reasons.push(`${show(path)} no longer has ${gone.slice(0, 5).join(", ")}`);
  const types = typesOf(to);
  // A list of values says more than a type.
  if (types === undefined || given !== undefined) return reasons;
  const before = typesOf(from);
  const isIn = (type: string): boolean => types.includes(type) || (type === "integer" && types.includes("number"));
  if (before === undefined || !before.every(isIn)) {
    reasons.push(`${show(path)} was ${before?.join(" or ") ?? "anything"} and is ${types.join(" or ")}`);
  }
  return reasons;
}

function findLimits(from: JsonSchema, to: JsonSchema, path: string): readonly string[] {
  const isStricter = (keyword: string, sign: number): boolean => {
    const [before, after] = [from[keyword], to[keyword]];
    if (after === undefined) return false;
    return typeof before !== "number" || typeof after !== "number" || sign * (after - before) > 0;
  };
  const stricter = [
    ...lower.filter((keyword) => isStricter(keyword, 1)),
    ...upper.filter((keyword) => isStricter(keyword, -1)),
  ];
  return stricter.map((keyword) => `${show(path)} has a stricter ${keyword}`);
}

function findObjects(from: JsonSchema, to: JsonSchema, { isOpen, path = "" }: SchemaPair): readonly string[] {
  const [before, after] = [propertiesOf(from), propertiesOf(to)];
  const reasons: string[] = [];
  const needed = namesIn(from["required"]);
  for (const name of namesIn(to["required"])) {
    if (!needed.has(name)) reasons.push(`${show(join(path, name))} is required`);
  }
  for (const [name, schema] of before) {
    const other = after.get(name) ?? restOf(to, isOpen);
    if (other === false) reasons.push(`${show(join(path, name))} is gone`);
    else reasons.push(...findNarrowing({ from: schema, to: other, isOpen, path: join(path, name) }));
  }
  const rest = from["additionalProperties"];
  if (rest === undefined || rest === false) return reasons;
  // Whatever else was there may be anything that the rest allows.
  for (const [name, schema] of after) {
    if (!before.has(name))
      reasons.push(...findNarrowing({ from: rest as JsonSchema, to: schema, isOpen, path: join(path, name) }));
  }
  const other = restOf(to, isOpen);
  if (other === false) return [...reasons, `${show(path)} takes no other properties`];
  return [...reasons, ...findNarrowing({ from: rest as JsonSchema, to: other, isOpen, path: join(path, "*") })];
}

function findItems(from: JsonSchema, to: JsonSchema, { isOpen, path = "" }: SchemaPair): readonly string[] {
  if (to["items"] === undefined) return [];
  const inner = (from["items"] ?? true) as JsonSchema | boolean;
  return findNarrowing({ from: inner, to: to["items"] as JsonSchema | boolean, isOpen, path: `${path}[]` });
}

/** Whatever else a schema can say is the same, or may restrict. */
function findOthers(from: JsonSchema, to: JsonSchema, path: string): readonly string[] {
  const isOther = (keyword: string): boolean => !looked.has(keyword) && !keyword.startsWith("x-");
  return Object.keys(to)
    .filter((keyword) => isOther(keyword) && toText(from[keyword]) !== toText(to[keyword]))
    .map((keyword) => `${show(path)} has another ${keyword}`);
}

function restOf(schema: JsonSchema, isOpen: boolean): JsonSchema | boolean {
  const rest = schema["additionalProperties"] as JsonSchema | boolean | undefined;
  return rest ?? isOpen;
}

function propertiesOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema | boolean> {
  const properties = schema["properties"];
  return new Map(isSchemaObject(properties) ? (Object.entries(properties) as [string, JsonSchema][]) : []);
}

function namesIn(value: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? (value as string[]) : []);
}

function typesOf({ type }: JsonSchema): readonly string[] | undefined {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as string[]) : undefined;
}

/** As JSON text. */
function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  if (Object.hasOwn(schema, "const")) return [JSON.stringify(schema["const"])];
  const list = schema["enum"];
  return Array.isArray(list) ? list.map((one) => JSON.stringify(one)) : undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function show(path: string): string {
  return path === "" ? "it" : path;
}

/** Canonical JSON without the words. Inside `properties` a name like "title" is a property. */
function toText(value: unknown, isMap = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => toText(item)).join(",")}]`;
  if (!isSchemaObject(value)) return JSON.stringify(value) ?? "";
  const keys = Object.keys(value).filter((key) => isMap || !words.has(key));
  const pairs = keys.toSorted().map((key) => {
    const isPropertyMap = !isMap && (key === "properties" || key === "$defs" || key === "patternProperties");
    return `${JSON.stringify(key)}:${toText(value[key], isPropertyMap)}`;
  });
  return `{${pairs.join(",")}}`;
}
