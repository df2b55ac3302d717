import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue, maxJsonDepth } from "../../core/json.ts";
import {
  followReferences,
  isOfType,
  isSchemaObject,
  itemSchema,
  type JsonSchema,
  wantedTypes,
} from "../../core/schema/json-schema.ts";
import { branchesOf, choicesOf, rankBranches } from "../../core/schema/rank-branches.ts";
import { readPartialJson } from "../../models/prompted/read-partial-json.ts";
import type { AgentEvent } from "../events.ts";
import { takeAnswer } from "./output-rule.ts";
import type { OutputRule } from "./run-state.ts";
import { isCut, isTooLong } from "./to-assistant-message.ts";

/**
 * Reads what there is of an output while the model writes it. When the model has to answer anew, it begins anew too. `findRule` is asked when
 * there is text.
 *
 * @throws {KitbagError} `option-invalid` if the run has no output schema.
 */
export async function* readPartials(
  events: AsyncIterator<AgentEvent>,
  findRule: () => OutputRule | undefined,
): AsyncGenerator<JsonValue> {
  try {
    for (let state = { isOver: false }; !state.isOver;) {
      const text = readAnswerText(events, findRule, () => (state = { isOver: true }));
      // Many answers ask for calls, and say nothing.
      const first = await text.next();
      if (first.done !== true) yield* readAnswer(first.value, text, findRule() ?? refuse());
    }
  } finally {
    await events.return?.();
  }
}

/** An output is given again when it has grown by this share: copies of a long one would take longer than the model. */
const share = 0.02;

async function* readAnswer(first: string, rest: AsyncIterable<string>, rule: OutputRule): AsyncGenerator<JsonValue> {
  const read = { length: first.length, value: undefined as JsonValue | undefined, last: "" };
  async function* all(): AsyncGenerator<string> {
    yield first;
    for await (const piece of rest) {
      read.length += piece.length;
      yield piece;
    }
  }
  function* show(): Generator<JsonValue> {
    const partial = read.value === undefined ? undefined : toPartial(rule, read.value);
    const shown = partial === undefined ? read.last : JSON.stringify(partial);
    if (partial === undefined || shown === read.last) return;
    read.last = shown;
    yield partial;
  }
  let next = 0;
  for await (const value of readPartialJson(all())) {
    read.value = value;
    if (read.length < next) continue;
    next = read.length * (1 + share);
    yield* show();
  }
  yield* show();
}

function refuse(): never {
  const expected = 'a schema: "partials" reads the output of a run that has one';
  throw new KitbagError("option-invalid", { option: "output", found: "nothing", expected });
}

/** The text of one answer from its first bracket on, with what follows where it was cut and went on. */
async function* readAnswerText(
  events: AsyncIterator<AgentEvent>,
  findRule: () => OutputRule | undefined,
  onEnd: () => void,
): AsyncGenerator<string> {
  let before: string | undefined = "";
  for (;;) {
    const { done, value: event } = await events.next();
    if (done === true) return onEnd();
    if (event.type === "model-answer" && !isCut(event) && !isTooLong(event)) return;
    if (event.type !== "text-delta") continue;
    if (before === undefined) {
      yield event.text;
      continue;
    }
    const { json, asked } = findRule() ?? refuse();
    before += event.text;
    const said: string = before.replace(/^\s*<think(?:ing)?>[^]*?(?:<\/think(?:ing)?>|$)/iu, "");
    const start = said.search(asked === json ? /\{/u : /[{[]/u);
    if (start === -1) continue;
    before = undefined;
    yield said.slice(start);
  }
}

/** What there is of the output in what there is of an answer. */
function toPartial(rule: OutputRule, value: JsonValue): JsonValue | undefined {
  const { json, asked } = rule;
  // The object that holds the answer has just begun.
  if (asked !== json && isRecord(value) && Object.keys(value).length === 0) return undefined;
  return tidy(json, json, takeAnswer(rule, value));
}

/** A copy without nulls that stand for nothing, values of a wrong type, and the beginnings of texts that the schema lists. */
function tidy(root: JsonSchema, given: unknown, value: JsonValue, depth = 0): JsonValue | undefined {
  if (depth > maxJsonDepth) return undefined;
  const found = likeliest(root, given, value);
  const schema = isSchemaObject(found) ? found : {};
  const types = wantedTypes(schema);
  // A model that writes something else has to answer anew.
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return undefined;
  if (typeof value === "string" && choicesOf(schema)?.includes(value) === false) return undefined;
  if (!Array.isArray(value)) return isRecord(value) ? tidyObject(root, schema, value, depth) : value;
  const items = value.map((item, index) => tidy(root, itemSchema(schema, index), item, depth + 1));
  return items.filter((item) => item !== undefined);
}

function tidyObject(root: JsonSchema, schema: JsonSchema, value: JsonObject, depth: number): JsonObject {
  const { properties, required, additionalProperties } = schema;
  const tidied: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const inner = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const isNeeded = Array.isArray(required) && required.includes(name);
    if (item === null && !isNeeded && !takesNull(root, inner)) continue;
    const kept = tidy(root, inner, item, depth + 1);
    if (kept !== undefined) tidied.push([name, kept]);
  }
  // Not by assignment: "__proto__" is just a name.
  return Object.fromEntries(tidied);
}

/** The schema that a value is meant for, through references and branches. */
function likeliest(root: JsonSchema, given: unknown, value: JsonValue): unknown {
  const schema = followReferences(root, given);
  const branches = isSchemaObject(schema) ? branchesOf(schema) : undefined;
  return branches === undefined ? schema : rankBranches(root, branches, value)[0]?.branch;
}

function takesNull(root: JsonSchema, given: unknown): boolean {
  const schema = followReferences(root, given);
  if (!isSchemaObject(schema)) return true;
  const branches = branchesOf(schema);
  if (branches !== undefined) return branches.some((branch) => takesNull(root, branch));
  const types = wantedTypes(schema);
  return choicesOf(schema)?.includes(null) ?? (types.length === 0 || types.includes("null"));
}
