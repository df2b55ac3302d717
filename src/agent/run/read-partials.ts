import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
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

async function* readAnswer(first: string, rest: AsyncIterable<string>, rule: OutputRule): AsyncGenerator<JsonValue> {
  async function* all(): AsyncGenerator<string> {
    yield first;
    yield* rest;
  }
  let last = "";
  for await (const value of readPartialJson(all())) {
    const partial = toPartial(rule, value);
    const shown = partial === undefined ? last : JSON.stringify(partial);
    if (partial === undefined || shown === last) continue;
    last = shown;
    yield partial;
  }
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
function tidy(root: JsonSchema, given: unknown, value: JsonValue): JsonValue | undefined {
  const found = likeliest(root, given, value);
  const schema = isSchemaObject(found) ? found : {};
  const types = wantedTypes(schema);
  // A model that writes something else has to answer anew.
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return undefined;
  if (typeof value === "string" && choicesOf(schema)?.includes(value) === false) return undefined;
  if (!Array.isArray(value)) return isRecord(value) ? tidyObject(root, schema, value) : value;
  const items = value.map((item, index) => tidy(root, itemSchema(schema, index), item));
  return items.filter((item) => item !== undefined);
}

function tidyObject(root: JsonSchema, schema: JsonSchema, value: JsonObject): JsonObject {
  const { properties, required, additionalProperties } = schema;
  const tidied: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) {
    const inner = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const isNeeded = Array.isArray(required) && required.includes(name);
    if (item === null && !isNeeded && !takesNull(root, inner)) continue;
    const kept = tidy(root, inner, item);
    if (kept !== undefined) tidied[name] = kept;
  }
  return tidied;
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
