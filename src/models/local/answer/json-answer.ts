import type { JsonValue } from "../../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ModelCall } from "../../model.ts";
import { fillParameters } from "../fill/fill-parameters.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { setField } from "../fill/set-field.ts";
import { noWords } from "../fill/tool-words.ts";
import { workOf, type Scene } from "../plan/decision.ts";
import { createRecall } from "../plan/recall-value.ts";
import { readRequest } from "../text/read-request.ts";

/** The answer as JSON: what the results and the request say, in the form that was asked for. */
export function toJsonAnswer(scene: Scene, text: string, format: NonNullable<ModelCall["responseFormat"]>): string {
  const schema: unknown = format.type === "json" ? format.schema : undefined;
  if (isSchemaObject(schema)) return JSON.stringify(toValue(scene, text, schema));
  const last = workOf(scene.exchange).flat().at(-1)?.result?.value;
  return JSON.stringify(typeof last === "object" && last !== null ? last : { answer: last ?? text });
}

function toValue(scene: Scene, text: string, schema: JsonSchema): JsonValue {
  const [whole] = parametersOf({
    inputSchema: { type: "object", properties: { value: schema as object }, required: ["value"] },
  });
  if (whole === undefined || whole.type === "string") return text;
  if (whole.type !== "object") return emptyOf(whole);
  const answer: Record<string, JsonValue> = { ...whatWasSaid(scene, whole.fields) };
  const recall = createRecall(readRequest("it"), workOf(scene.exchange).flat(), { isChained: true, isSame: false });
  for (const field of whole.fields) {
    const found = recall(field);
    if (found !== undefined) setField(answer, field.name, found);
    else if (field.isRequired && !Object.hasOwn(answer, field.name)) setField(answer, field.name, leastOf(field, text));
  }
  return answer;
}

function whatWasSaid(
  { exchange, today }: Scene,
  parameters: readonly Parameter[],
): Readonly<Record<string, JsonValue>> {
  return fillParameters({ request: readRequest(exchange.text, today), parameters, words: noWords }).input;
}

function leastOf(field: Parameter, text: string): JsonValue {
  return field.type === "string" && field.choices.length === 0 ? text : emptyOf(field);
}

/** The least that a schema allows, as far as one can see. */
function emptyOf({ schema, choices, type, fields }: Parameter): JsonValue {
  if ("const" in schema) return schema["const"] as JsonValue;
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
        fields.filter(({ isRequired }) => isRequired).map((field) => [field.name, emptyOf(field)]),
      );
    case "string":
      return "";
    case "any":
      return null;
  }
}
