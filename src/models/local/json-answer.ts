import type { JsonObject, JsonValue } from "../../core/json.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { ModelCall } from "../model.ts";
import { asObject } from "./conversation.ts";
import { fillParameters } from "./fill.ts";
import { parametersOf, type Parameter } from "./parameters.ts";
import { readRequest } from "./read-request.ts";
import { workOf, type Scene } from "./scene.ts";

/** The answer as JSON: what the last result and the request say, in the form that was asked for. */
export function toJsonAnswer(
  { exchange, today }: Scene,
  text: string,
  format: NonNullable<ModelCall["responseFormat"]>,
): string {
  const schema: unknown = format.type === "json" ? format.schema : undefined;
  const last = workOf(exchange).at(-1)?.result?.value;
  const [answer] = parametersOf({ properties: { answer: schema }, required: ["answer"] });
  if (answer === undefined || !isSchemaObject(schema))
    return JSON.stringify(typeof last === "object" && last !== null ? last : { answer: last ?? text });
  const { input: said } = fillParameters({
    request: readRequest(exchange.text),
    parameters: parametersOf(schema),
    isOwn: () => false,
    isKnown: () => true,
    isLoose: false,
    isOrdered: false,
    today,
  });
  return JSON.stringify(valueOf(answer, text, { ...said, ...asObject(last) }));
}

/** What is known of an object; for the rest the least that its schema allows, as far as one can see; for a free text, the answer. */
function valueOf({ schema, choices, type }: Parameter, text: string, known: JsonObject = {}): JsonValue {
  if ("default" in schema) return schema["default"] as JsonValue;
  if (choices[0] !== undefined) return choices[0];
  switch (type) {
    case "boolean":
      return false;
    case "number":
    case "integer":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
    case "array":
      return [];
    case "object":
      return Object.fromEntries(
        parametersOf(schema)
          .filter(({ name, isRequired }) => isRequired || Object.hasOwn(known, name))
          .map((field) => [field.name, known[field.name] ?? valueOf(field, text)]),
      );
    case "string":
      return text;
    case "any":
      return null;
  }
}
