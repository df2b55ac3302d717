import type { JsonValue } from "../../../core/json.ts";
import { isSchemaObject } from "../../../core/schema/json-schema.ts";
import type { ModelCall } from "../../model.ts";
import { fillParameters } from "../fill/fill-parameters.ts";
import { noWords } from "../fill/tool-words.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { createRecall } from "../plan/recall-value.ts";
import { workOf, type Scene } from "../plan/decision.ts";
import { readRequest } from "../text/read-request.ts";

/** The answer as JSON: what the results and the request say, in the form that was asked for. */
export function toJsonAnswer(scene: Scene, text: string, format: NonNullable<ModelCall["responseFormat"]>): string {
  const schema: unknown = format.type === "json" ? format.schema : undefined;
  const calls = workOf(scene.exchange).flat();
  const last = calls.at(-1)?.result?.value;
  if (!isSchemaObject(schema))
    return JSON.stringify(last === undefined || typeof last !== "object" ? { answer: last ?? text } : last);
  const [whole] = parametersOf({
    inputSchema: { type: "object", properties: { value: schema as object }, required: ["value"] },
  });
  if (whole === undefined) return JSON.stringify({ answer: text });
  if (whole.type !== "object") return JSON.stringify(whole.type === "string" ? text : emptyOf(whole));
  const request = readRequest(`${scene.exchange.text}\nit`, scene.today);
  const recall = createRecall(request, calls, true);
  const fromResults: Record<string, JsonValue> = {};
  for (const field of whole.fields) {
    const value = recall(field);
    if (value !== undefined) fromResults[field.name] = value;
  }
  const said = fillParameters({
    request: readRequest(scene.exchange.text, scene.today),
    parameters: whole.fields,
    words: noWords,
  });
  const answer: Record<string, JsonValue> = { ...said.input, ...fromResults };
  for (const field of whole.fields)
    if (field.isRequired && !Object.hasOwn(answer, field.name))
      answer[field.name] = field.type === "string" && field.choices.length === 0 ? text : emptyOf(field);
  return JSON.stringify(answer);
}

/** The least that a schema allows, as far as one can see. */
function emptyOf(parameter: Parameter): JsonValue {
  const { schema, choices, type } = parameter;
  if ("const" in schema) return schema["const"] as JsonValue;
  if ("default" in schema) return schema["default"] as JsonValue;
  if (choices[0] !== undefined) return choices[0];
  if (type === "boolean") return false;
  if (type === "number" || type === "integer") return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
  if (type === "array") return [];
  if (type === "object")
    return Object.fromEntries(
      parameter.fields.filter(({ isRequired }) => isRequired).map((field) => [field.name, emptyOf(field)]),
    );
  return type === "string" ? "" : null;
}
