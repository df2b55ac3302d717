import type { JsonValue } from "../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { ModelCall } from "../model.ts";
import { asObject } from "./conversation.ts";
import { fillParameters } from "./fill.ts";
import { parametersOf, type Parameter } from "./parameters.ts";
import { readRequest } from "./read-request.ts";
import { workOf, type Scene } from "./scene.ts";

/** The answer as JSON: what the last result and the request say, in the form that was asked for. */
export function toJsonAnswer(scene: Scene, text: string, format: NonNullable<ModelCall["responseFormat"]>): string {
  const schema: unknown = format.type === "json" ? format.schema : undefined;
  const last = workOf(scene.exchange).at(-1)?.result?.value;
  if (isSchemaObject(schema)) return JSON.stringify(toValue(scene, text, schema, last));
  return JSON.stringify(typeof last === "object" && last !== null ? last : { answer: last ?? text });
}

function toValue({ exchange, today }: Scene, text: string, schema: JsonSchema, last: JsonValue | undefined): JsonValue {
  const [whole] = parametersOf({ properties: { value: schema }, required: ["value"] });
  if (whole?.type !== "object") return whole === undefined ? text : leastOf(whole, text);
  const request = readRequest(exchange.text);
  const parameters = parametersOf(schema);
  const said = fillParameters({
    request,
    parameters,
    isOwn: () => false,
    isKnown: () => true,
    isLoose: false,
    isOrdered: false,
    today,
  }).input;
  const found = asObject(last);
  return Object.fromEntries(
    parameters.flatMap((field): [string, JsonValue][] => {
      const value = found[field.name] ?? said[field.name];
      if (value !== undefined) return [[field.name, value]];
      return field.isRequired ? [[field.name, leastOf(field, text)]] : [];
    }),
  );
}

/** The least that a schema allows, as far as one can see; for a free text, the answer. */
function leastOf({ schema, choices, type }: Parameter, text: string): JsonValue {
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
          .filter(({ isRequired }) => isRequired)
          .map((field) => [field.name, leastOf(field, "")]),
      );
    case "string":
      return text;
    case "any":
      return null;
  }
}
