import { isRecord } from "../../core/json.ts";
import { ownValue, type CallDraft, type CallStyle } from "./call-draft.ts";
import { parseStrictly } from "./read-json.ts";
import { readValueLeniently, type Reading } from "./read-value.ts";
import { createSource } from "./source.ts";
import { propertiesOf, singleProperty, type CallableTool, type ToolIndex } from "./tool-index.ts";

/** What says how a value is taken. */
export interface JsonPlace {
  readonly index: ToolIndex;
  readonly style: CallStyle;
  /** It stands where only a call can stand: behind `<tool_call>` and its like. */
  readonly isMarked: boolean;
}

const nameKeys = ["name", "tool", "tool_name", "toolName", "function", "function_name", "action", "recipient_name"];
const inputKeys = [
  "arguments",
  "args",
  "parameters",
  "params",
  "input",
  "action_input",
  "tool_input",
  "toolInput",
  "kwargs",
  "arguments_json",
];
const wrapperKeys = ["tool_calls", "toolCalls", "tool_call", "toolCall", "function_call", "functionCall"];
/** What stands beside a call and is no part of its input. */
const otherKeys = new Set([
  ...nameKeys,
  ...inputKeys,
  "id",
  "type",
  "index",
  "tool_call_id",
  "call_id",
  "thought",
  "reason",
]);
/** An object with one of these keys is a record of a past call, not a new call. */
const resultKeys = ["output", "result", "response", "observation", "error"];

/** Reads a JSON value as a call or a list of calls; `undefined` for any other value. */
export function toCallDrafts(reading: Reading, place: JsonPlace): CallDraft[] | undefined {
  const { value } = reading;
  const isOpen = reading.incomplete.size > 0;
  const repairs = isOpen ? [...reading.repairs, "missing brackets were added"] : reading.repairs;
  return toDrafts(value, { ...reading, repairs }, place);
}

function toDrafts(value: unknown, reading: Reading, place: JsonPlace): CallDraft[] | undefined {
  if (Array.isArray(value)) return toAll(value, reading, place);
  if (!isRecord(value)) return undefined;
  for (const key of wrapperKeys) {
    const inner = ownValue(value, key);
    if (typeof inner === "object" && inner !== null)
      return toAll(Array.isArray(inner) ? inner : [inner], reading, place);
  }
  const draft = toOne(value, reading, place);
  return draft && [draft];
}

function toAll(values: readonly unknown[], reading: Reading, place: JsonPlace): CallDraft[] | undefined {
  const drafts = values.map((value) => (isRecord(value) ? toOne(value, reading, place) : undefined));
  return drafts.length > 0 && drafts.every((draft) => draft !== undefined) ? drafts : undefined;
}

function toOne(value: Record<string, unknown>, reading: Reading, place: JsonPlace): CallDraft | undefined {
  const inner = ownValue(value, "function");
  if (isRecord(inner)) return toOne(inner, reading, place);
  if (resultKeys.some((key) => Object.hasOwn(value, key))) return undefined;
  const nameKey = nameKeys.find((key) => typeof ownValue(value, key) === "string");
  const inputKey = inputKeys.find((key) => Object.hasOwn(value, key));
  if (nameKey === undefined) return place.isMarked ? fromOnlyKey(value, reading, place) : undefined;
  const name = String(value[nameKey]);
  if (inputKey === undefined) return withoutInput(value, name, reading, place);
  const input = value[inputKey];
  if (isSchema(input, place.index.find(name))) return undefined;
  const repairs = [...reading.repairs];
  const draft = { name, input: toInput(input, place.index.find(name), repairs), style: place.style, repairs };
  return { ...draft, isCut: isCutOff(value, inputKey, reading) || isCutOff(value, nameKey, reading) };
}

/** The value of `key` is whole only if it was closed: what would have followed cannot be known. */
function isCutOff(value: Record<string, unknown>, key: string, { incomplete }: Reading): boolean {
  if (!incomplete.has(value)) return false;
  const inner = value[key];
  return incomplete.get(value) === key || (typeof inner === "object" && inner !== null && incomplete.has(inner));
}

/** `{ "get_weather": { "city": "Paris" } }` */
function fromOnlyKey(value: Record<string, unknown>, reading: Reading, place: JsonPlace): CallDraft | undefined {
  const [name, ...others] = Object.keys(value);
  const input = name === undefined ? undefined : value[name];
  if (name === undefined || others.length > 0 || !isRecord(input) || place.index.find(name) === undefined)
    return undefined;
  const repairs = [...reading.repairs, "the key was taken as the name of the tool"];
  return { name, input, style: place.style, repairs, isCut: reading.incomplete.has(input) };
}

/** A name and no input: all there is, or the input stands beside the name. */
function withoutInput(
  value: Record<string, unknown>,
  name: string,
  reading: Reading,
  place: JsonPlace,
): CallDraft | undefined {
  const tool = place.index.find(name);
  const keys = Object.keys(value).filter((key) => !otherKeys.has(key));
  const isCut = reading.incomplete.has(value);
  // `{ "name": "search" }` alone may be anything. With an input that was cut off it would have been a call.
  if (!place.isMarked) return undefined;
  if (keys.length === 0) return { name, input: {}, style: place.style, repairs: [...reading.repairs], isCut };
  const known = new Set(tool === undefined ? [] : propertiesOf(tool).map(([property]) => property));
  if (!keys.every((key) => known.has(key))) return undefined;
  const input = Object.fromEntries(keys.map((key) => [key, value[key]]));
  return {
    name,
    input,
    style: place.style,
    repairs: [...reading.repairs, "the input was found beside the name"],
    isCut,
  };
}

/** A schema where an input would be: the declaration of a tool, which models repeat when they explain it. */
function isSchema(input: unknown, tool: CallableTool | undefined): boolean {
  if (!isRecord(input) || !isRecord(ownValue(input, "properties")) || ownValue(input, "type") !== "object")
    return false;
  return tool === undefined || !propertiesOf(tool).some(([name]) => name === "properties");
}

/** Makes an input of what stands in its place: JSON written as a text is read, a bare text is for the one thing a tool takes. */
export function toInput(input: unknown, tool: CallableTool | undefined, repairs: string[]): unknown {
  if (input === null || input === undefined) return {};
  if (typeof input !== "string") return input;
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
  try {
    const source = createSource(text);
    const { value, end, repairs: found, incomplete } = readValueLeniently(source, 0);
    if (incomplete.size > 0 || text.slice(end).trim() !== "") return undefined;
    repairs.push(...found);
    return value;
  } catch {
    return undefined;
  }
}
