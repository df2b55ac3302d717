import { isRecord } from "../../core/json.ts";
import { ownValue, parseStrictly, readJson, readLeniently, type Reading } from "./read-value.ts";
import { createSource, type Source } from "./source.ts";
import { propertiesOf, singleProperty, type CallableTool, type ToolIndex } from "./tool-index.ts";

/** The ways to write a call that are told apart. */
export type CallStyle = "tool-call" | "function" | "invoke" | "element" | "token" | "json" | "expression" | "react";

/** A call as the model wrote it, not yet checked against the tools. */
export interface CallDraft {
  readonly name: string;
  readonly input: unknown;
  readonly style: CallStyle;
  readonly repairs: readonly string[];
  /** The answer ended before the input did. */
  readonly isCut: boolean;
}

/** Calls that were read, and where what was read ends. */
export interface ReadCalls {
  readonly drafts: readonly CallDraft[];
  readonly end: number;
  /** Something at the end was meant as a call and cannot be read; the name that it may have. */
  readonly unreadable?: { readonly name?: string };
}

/** Where calls are looked for. */
export interface CallPlace {
  readonly index: ToolIndex;
  /** The style to report for a call in JSON. */
  readonly style: CallStyle;
  /** Whether only calls may appear here (behind `<tool_call>` and its like), so that any other text is a mistake and not prose. */
  readonly isMarked: boolean;
}

const nameKeys = "name tool tool_name toolName function function_name action recipient_name".split(" ");
const inputKeys =
  "arguments args parameters params input action_input tool_input toolInput kwargs arguments_json".split(" ");
const wrapperKeys = "tool_calls toolCalls tool_call toolCall function_call functionCall".split(" ");
/** What stands beside a call and is no part of its input. */
const otherKeys = new Set([
  ...nameKeys,
  ...inputKeys,
  ..."id type index tool_call_id call_id thought reason".split(" "),
]);
/** An object with one of these keys is a record of a past call, not a new call. */
const resultKeys = "output result response observation error".split(" ");

/** Reads a JSON value as a call or a list of calls; `undefined` for any other value. */
export function toCallDrafts(reading: Reading, place: CallPlace): CallDraft[] | undefined {
  const { value, incomplete } = reading;
  const repairs = incomplete.size > 0 ? [...reading.repairs, "missing brackets were added"] : reading.repairs;
  const wrapped = isRecord(value)
    ? wrapperKeys.map((key) => ownValue(value, key)).find((inner) => typeof inner === "object" && inner !== null)
    : undefined;
  const drafts = [wrapped ?? value]
    .flat()
    .map((one) => (isRecord(one) ? toOne(one, { ...reading, repairs }, place) : undefined));
  return drafts.length > 0 && drafts.every((draft) => draft !== undefined) ? drafts : undefined;
}

function toOne(value: Record<string, unknown>, reading: Reading, place: CallPlace): CallDraft | undefined {
  const inner = ownValue(value, "function");
  if (isRecord(inner)) return toOne(inner, reading, place);
  if (resultKeys.some((key) => Object.hasOwn(value, key))) return undefined;
  const { style, index } = place;
  const nameKey = nameKeys.find((key) => typeof ownValue(value, key) === "string");
  const inputKey = inputKeys.find((key) => Object.hasOwn(value, key));
  if (nameKey === undefined || inputKey === undefined) return withoutKey(value, nameKey, reading, place);
  const name = String(value[nameKey]);
  const tool = index.find(name);
  if (isSchema(value[inputKey], tool) || isDeclaration(value, inputKey)) return undefined;
  const repairs = [...reading.repairs];
  const input = toInput(value[inputKey], tool, repairs);
  const isCut = isCutOff(value, inputKey, reading) || isCutOff(value, nameKey, reading);
  return { name, input, style, repairs, isCut };
}

/** The value of `key` is whole only if it was closed: what would have followed cannot be known. */
function isCutOff(value: Record<string, unknown>, key: string, { incomplete }: Reading): boolean {
  if (!incomplete.has(value)) return false;
  const inner = value[key];
  return incomplete.get(value) === key || (typeof inner === "object" && inner !== null && incomplete.has(inner));
}

/**
 * A call whose name or input has no key of its own: `{ "get_weather": { "city": "Paris" } }`, or the input stands beside the name.
 * `{ "name": "search" }` alone may be anything: it is one only where nothing else can stand.
 */
function withoutKey(
  value: Record<string, unknown>,
  nameKey: string | undefined,
  { repairs, incomplete }: Reading,
  { index, style, isMarked }: CallPlace,
): CallDraft | undefined {
  if (!isMarked) return undefined;
  if (nameKey === undefined) {
    const [[name, input] = ["", undefined], ...others] = Object.entries(value);
    if (others.length > 0 || !isRecord(input) || index.find(name) === undefined) return undefined;
    const told = [...repairs, "the key was taken as the name of the tool"];
    return { name, input, style, repairs: told, isCut: incomplete.has(input) };
  }
  const name = String(value[nameKey]);
  const tool = index.find(name);
  const entries = Object.entries(value).filter(([key]) => !otherKeys.has(key));
  const known = new Set(tool === undefined ? [] : propertiesOf(tool).map(([property]) => property));
  if (!entries.every(([key]) => known.has(key))) return undefined;
  const told = entries.length === 0 ? repairs : [...repairs, "the input was found beside the name"];
  return { name, input: Object.fromEntries(entries), style, repairs: told, isCut: incomplete.has(value) };
}

/** A schema where an input would be: the declaration of a tool, which models repeat when they explain it. */
function isSchema(input: unknown, tool: CallableTool | undefined): boolean {
  if (!isRecord(input) || !isRecord(ownValue(input, "properties")) || ownValue(input, "type") !== "object")
    return false;
  return tool === undefined || !propertiesOf(tool).some(([name]) => name === "properties");
}

/** What a tool that takes nothing is declared with. */
function isDeclaration(value: Record<string, unknown>, inputKey: string): boolean {
  const parameters = value[inputKey];
  const isEmpty = isRecord(parameters) && Object.keys(parameters).length === 0;
  return inputKey === "parameters" && isEmpty && typeof ownValue(value, "description") === "string";
}

/** Makes an input of what stands in its place: JSON written as a text is read, a bare text is for the one thing a tool takes. */
export function toInput(input: unknown, tool: CallableTool | undefined, repairs: string[]): unknown {
  if (typeof input !== "string") return input ?? {};
  const text = input.trim();
  if (text === "") return {};
  if (/^["{[]/u.test(text)) {
    const value = parseStrictly(text) ?? readWhole(text, repairs);
    // Some encode it twice, and some three times.
    if (typeof value === "string" && value.length < text.length) return toInput(value, tool, repairs);
    if (value !== undefined) return value;
  }
  const only = tool && singleProperty(tool);
  if (only === undefined) return input;
  repairs.push(`the text was taken as ${JSON.stringify(only)}`);
  return { [only]: input };
}

function readWhole(text: string, repairs: string[]): unknown {
  const reading = readLeniently(createSource(text), 0);
  if (reading === undefined || reading.incomplete.size > 0 || text.slice(reading.end).trim() !== "") return undefined;
  repairs.push(...reading.repairs);
  return reading.value;
}

/** A call whose name was read. */
export interface CallOwner {
  readonly name: string;
  readonly style: CallStyle;
  readonly tool: CallableTool | undefined;
}

/** Reads the JSON object at `at` as the input of a call whose name was read; `undefined` if none can be read there. */
export function readObject(source: Source, at: number, { name, style, tool }: CallOwner): ReadCalls | undefined {
  const read = readJson(source, at);
  if (!read.ok || typeof read.value !== "object" || read.value === null) return undefined;
  const repairs = [...read.repairs];
  const input = toInput(read.value, tool, repairs);
  return { drafts: [{ name, input, style, repairs, isCut: read.incomplete.has(read.value) }], end: read.end };
}
