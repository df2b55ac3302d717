import { quote } from "../../core/errors.ts";
import type { JsonValue, JsonObject } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { usageError } from "../cli-command.ts";
import {
  findParameter,
  toFlagNames,
  getItems,
  getShape,
  getTypes,
  isSwitch,
  type ObjectShape,
  fromText,
} from "./parameter.ts";

/** One value for one parameter, as the command line says it. */
export interface Setting {
  /** The way to the parameter: `["filter", "size"]`. */
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** What may be said to {@link parseFlags}. */
export interface ParseFlagsOptions {
  /** Flags of others that a person may have meant, for the message. */
  readonly alsoKnown?: readonly string[];
  /** The text that the value of a flag stands for. @default itself */
  readonly readText?: (flag: string, given: string) => string;
  /** A flag of the schema as a person types it. @default as it is */
  readonly showFlag?: (flag: string) => string;
}

/**
 * Turns words of the command line into settings, by the schema: `--count 3`, `--count=3`, `--tag a --tag b`, `--verbose`,
 * `--no-verbose`, `--filter.size 3`.
 *
 * @throws {KitbagError} `usage-invalid` for a word that is no flag, an unknown flag, a flag without its value or given twice.
 */
export function parseFlags(schema: JsonSchema, words: readonly string[], options: ParseFlagsOptions = {}): Setting[] {
  const settings = new Map<string, { readonly flag: Flag; readonly values: JsonValue[] }>();
  const waiting = [...words];
  for (let word = waiting.shift(); word !== undefined; word = waiting.shift()) {
    const { name, given } = splitWord(word);
    const flag = findFlag(schema, name) ?? refuseFlag(schema, name, options);
    const said = readWord({ schema, flag, name, given }, waiting);
    const value = typeof said === "boolean" ? said : toValue({ schema, flag, name, given: said }, options);
    const key = JSON.stringify(flag.path);
    const setting = settings.get(key);
    if (setting === undefined) settings.set(key, { flag, values: [value] });
    else if (!isList(schema, flag)) throw usageError(`Cannot use --${name} twice: it takes one value`);
    else setting.values.push(value);
  }
  return [...settings.values()].map(({ flag, values }) => ({
    path: flag.path,
    value: joinValues(schema, flag, values),
  }));
}

function splitWord(word: string): { name: string; given: string | undefined } {
  const [, name, given] = /^--([^=]+)(?:=([\s\S]*))?$/u.exec(word) ?? [];
  if (name !== undefined) return { name, given };
  throw usageError(`Cannot use ${quote(word)}: it is not a flag; write --name value, or --input with JSON`);
}

function refuseFlag(
  schema: JsonSchema,
  name: string,
  { alsoKnown = [], showFlag = (flag) => flag }: ParseFlagsOptions,
): never {
  const known = listFlags(schema).map((flag) => `--${flag}`);
  const [nearest] = nearestNames(name.replace(/^no-/u, ""), [...known, ...alsoKnown], 1);
  // A name may be that of a parameter, which is typed otherwise, and of a flag that every command has.
  const typed = known.filter((flag) => flag === nearest).map(showFlag);
  const meant = new Set([...typed, ...alsoKnown.filter((flag) => flag === nearest)]);
  const cure = meant.size === 0 ? describeAll(known.map(showFlag)) : `did you mean ${[...meant].join(" or ")}?`;
  throw usageError(`Cannot use ${quote(`--${name}`)}: the tool has no such parameter; ${cure}`);
}

const mostFlags = 20;

/** The flags of nested objects come last: they follow from the object. */
function describeAll(flags: readonly string[]): string {
  if (flags.length === 0) return "it takes no parameters";
  const depth = (flag: string): number => flag.split(".").length;
  const sorted = flags.toSorted((left, right) => depth(left) - depth(right)).slice(0, mostFlags);
  const more = flags.length > mostFlags ? `, and ${flags.length - mostFlags} more` : "";
  return `its flags are ${sorted.join(", ")}${more}`;
}

interface Word<Given = string | undefined> {
  readonly schema: JsonSchema;
  readonly flag: Flag;
  readonly name: string;
  readonly given: Given;
}

/** What a flag says: a text, or that a switch is on or off. */
function readWord({ schema, flag, name, given }: Word, waiting: string[]): string | boolean {
  if (flag.isNegated) {
    if (given !== undefined) throw usageError(`Cannot use --${name} with a value: it only switches off`);
    return false;
  }
  if (given !== undefined) return given;
  if (isSwitch(schema, flag.schema)) return true;
  const next = waiting[0];
  if (next === undefined || next.startsWith("--")) {
    throw usageError(
      `Cannot use --${name} without a value: write --${name} value, or --${name}=value if it begins with --`,
    );
  }
  waiting.shift();
  return next;
}

function toValue(
  { schema, flag, name, given }: Word<string>,
  { readText = (_, text) => text, showFlag = (typed) => typed }: ParseFlagsOptions,
): JsonValue {
  const shown = showFlag(`--${name}`);
  const text = readText(shown, given);
  const whole = fromText(schema, flag.schema, text);
  const value =
    isList(schema, flag) && !Array.isArray(whole) ? fromText(schema, getItems(schema, flag.schema), text) : whole;
  // The check of the call would show all of the text, and not what is wrong with it.
  if (typeof value === "string" && isBrokenJson(schema, flag, text)) {
    const what = text === given ? shown : `${shown} ${given}`;
    throw usageError(`Cannot use ${what}: expected JSON, found ${describeBroken(text)}`);
  }
  return value;
}

/** Text where only an object or a list is taken, and that begins like one. */
function isBrokenJson(schema: JsonSchema, flag: Flag, text: string): boolean {
  const types = [...getTypes(schema, flag.schema)];
  const items = isList(schema, flag) ? [...getTypes(schema, getItems(schema, flag.schema))] : ["object"];
  const isContainer = types.length > 0 && types.every((type) => ["array", "object", "null"].includes(type));
  return isContainer && items.length > 0 && !items.includes("string") && /^\s*[[{]/u.test(text);
}

function describeBroken(text: string): string {
  try {
    JSON.parse(text);
    return "something else";
  } catch (cause) {
    return (cause as Error).message.slice(0, 200);
  }
}

function isList(schema: JsonSchema, flag: Flag): boolean {
  return getTypes(schema, flag.schema).has("array");
}

/** Flags that are given again make a list longer; a whole list in one flag is a list. */
function joinValues(schema: JsonSchema, flag: Flag, values: readonly JsonValue[]): JsonValue {
  const [first = null] = values;
  if (!isList(schema, flag)) return first;
  return values.length === 1 && !Array.isArray(first) && !wantsList(schema, flag) ? first : values.flat();
}

/** A single value for `string | string[]` stays one. */
function wantsList(schema: JsonSchema, flag: Flag): boolean {
  return [...getTypes(schema, flag.schema)].every((type) => type === "array" || type === "null");
}

/** The parameter that a flag sets. */
interface Flag {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
  /** `--no-verbose` for `verbose`. */
  readonly isNegated: boolean;
}

/** Names that objects have without being given them: as a parameter they are an attack or a mistake. */
const refusedNames = new Set(["__proto__", "constructor", "prototype"]);

/** Finds the parameter of a flag, `name` being what follows `--`. */
function findFlag(schema: JsonSchema, name: string): Flag | undefined {
  const isNegative = name.startsWith("no-");
  const found = findPath(schema, name.split("."), { declaredOnly: isNegative });
  if (found !== undefined) return { ...found, isNegated: false };
  const positive = isNegative ? findPath(schema, name.slice(3).split("."), { declaredOnly: true }) : undefined;
  return positive !== undefined && isSwitch(schema, positive.schema) ? { ...positive, isNegated: true } : undefined;
}

interface FoundPath {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
}

interface FindOptions {
  /** Only parameters that the schema names, though it would take others. */
  readonly declaredOnly: boolean;
}

function findPath(root: JsonSchema, words: readonly string[], options: FindOptions): FoundPath | undefined {
  const path: string[] = [];
  let schema = root;
  for (let rest = words; rest.length > 0;) {
    const step = findStep(getShape(root, schema), rest, options);
    if (step === undefined) return undefined;
    path.push(step.parameter);
    ({ schema, rest } = step);
  }
  return { path, schema };
}

interface Step {
  readonly parameter: string;
  readonly schema: JsonSchema;
  /** What of the flag is left for the objects inside. */
  readonly rest: readonly string[];
}

function findStep(
  { properties, others }: ObjectShape,
  words: readonly string[],
  { declaredOnly }: FindOptions,
): Step | undefined {
  // A name may contain dots, so the longest one that is a parameter wins.
  for (let count = words.length; count > 0; count--) {
    const parameter = findParameter(words.slice(0, count).join("."), properties.keys());
    const schema = parameter === undefined ? undefined : properties.get(parameter);
    if (parameter !== undefined && schema !== undefined && parameter !== "__proto__") {
      return { parameter, schema, rest: words.slice(count) };
    }
  }
  const [parameter = "", ...rest] = words;
  if (others === undefined || declaredOnly || parameter === "" || refusedNames.has(parameter)) return undefined;
  return { parameter, schema: others, rest };
}

/** The flags of a schema, without `--`: those of objects inside follow the object, down to the third level. */
function listFlags(root: JsonSchema, schema: JsonSchema = root, depth = 0): string[] {
  const { properties } = getShape(root, schema);
  const names = toFlagNames(properties.keys());
  return [...properties].flatMap(([parameter, property]) => {
    const name = names.get(parameter) ?? parameter;
    const inside = depth < 2 ? listFlags(root, property, depth + 1).map((inner) => `${name}.${inner}`) : [];
    return [name, ...inside];
  });
}

/**
 * Puts settings over an input: what a flag says goes before what the input says, and the rest of the input stays.
 *
 * @throws {KitbagError} `usage-invalid` if a flag goes into something that is not an object.
 */
export function applySettings(input: JsonObject, settings: readonly Setting[]): JsonObject {
  // `--filter '{…}' --filter.size 3` means the same in any order: the whole first, then its parts.
  const wholeFirst = settings.toSorted((left, right) => left.path.length - right.path.length);
  return wholeFirst.reduce((result, { path, value }) => setInside(result, path, value), input);
}

function setInside(target: JsonObject, path: readonly string[], value: JsonValue): JsonObject {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return { ...target, [name]: value };
  const inner = Object.hasOwn(target, name) ? (target[name] ?? {}) : {};
  if (typeof inner === "object" && !isJsonList(inner)) return { ...target, [name]: setInside(inner, rest, value) };
  throw usageError(`Cannot use --${path.join(".")}: ${name} is already set to something that has no parts`);
}

function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
