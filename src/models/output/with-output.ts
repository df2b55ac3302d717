import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Model, ModelCall, ModelMessage } from "../model.ts";
import { providerRow } from "../providers.ts";
import { toModelError } from "../retry/to-model-error.ts";
import { timingOf } from "../shims/timing.ts";
import { askForParts, wrapParts } from "../shims/wrap-model.ts";
import { type OutputForm, outputForms } from "./output-form.ts";

/**
 * Asks a model for JSON of a schema in the way that its provider takes: with the schema in the provider's form, with its mode for JSON, or
 * with the prompt alone. Where the provider refuses one of these, the next is tried.
 *
 * Contract: a question without a schema goes to the model as it is. The schema must be one of an object. Where every property must be
 * required, an optional one may come back as null. A group of models is not changed: each of its members is wrapped.
 */
export function withOutput(model: Model): Model {
  const { output = "unknown" } = providerRow(model);
  if (output === "as-is" || timingOf(model) === "group") return model;
  const form: OutputForm = outputForms[output];
  /** The ways that the server has refused, for every schema. */
  const refused = new Set<Way>();

  async function tryWays<Answer>(call: ModelCall, ask: (call: ModelCall) => PromiseLike<Answer>): Promise<Answer> {
    const questions = (await toQuestions(call, form)).filter(({ way }) => !refused.has(way));
    const failed: Way[] = [];
    for (const [index, { way, question }] of questions.entries()) {
      try {
        const answer = await ask(question);
        // A server that knows a provider's form refuses a schema for other reasons.
        if (output === "unknown") for (const one of failed) refused.add(one);
        return answer;
      } catch (cause) {
        if (index === questions.length - 1 || !mayBeTheForm(model, cause)) throw cause;
        failed.push(way);
      }
    }
    throw new Error("There is always the prompt");
  }

  return wrapParts(model, {
    doGenerate: (call) =>
      schemaOf(call) === undefined ? model.doGenerate(call) : tryWays(call, (question) => model.doGenerate(question)),
    ask: (call) =>
      schemaOf(call) === undefined
        ? askForParts(model, call)
        : tryWays(call, (question) => askForParts(model, question)),
  });
}

/** How an answer is asked for: with a schema, as JSON, or in the prompt alone. */
type Way = "schema" | "json" | "prompt";

interface Question {
  readonly way: Way;
  readonly question: ModelCall;
}

/** The questions to ask, the strongest first. */
async function toQuestions(call: ModelCall, form: OutputForm): Promise<readonly Question[]> {
  const schema = schemaOf(call);
  const { responseFormat: format, ...rest } = call;
  if (schema === undefined || format?.type !== "json") return [{ way: "prompt", question: call }];
  const { loose, hasJsonMode = false, isTold = false, excludesTools = false } = form;
  const told = { ...rest, prompt: tellSchema(call, schema) };
  const inPrompt: Question = { way: "prompt", question: told };
  if (excludesTools && (call.tools ?? []).length > 0) return [inPrompt];
  const inJson: Question[] = hasJsonMode
    ? [{ way: "json", question: { ...told, responseFormat: { type: "json" } } }]
    : [];
  const fitted = await fitOnce(schema, form);
  if (fitted !== undefined) {
    const responseFormat = { ...format, schema: fitted };
    return [{ way: "schema", question: { ...(isTold ? told : rest), responseFormat } }, ...inJson, inPrompt];
  }
  if (loose === undefined) return [...inJson, inPrompt];
  const providerOptions = mergeOptions(call.providerOptions, loose);
  return [{ way: "schema", question: { ...told, responseFormat: format, providerOptions } }, ...inJson, inPrompt];
}

function schemaOf({ responseFormat }: ModelCall): (JsonSchema & NonNullable<JsonFormat["schema"]>) | undefined {
  return responseFormat?.type === "json" ? (responseFormat.schema as JsonSchema | undefined) : undefined;
}

type JsonFormat = Extract<NonNullable<ModelCall["responseFormat"]>, { readonly type: "json" }>;

/** What became of each schema: a run asks with the same one again and again. */
const fittings = new WeakMap<object, Map<OutputForm, JsonSchema | undefined>>();

async function fitOnce(schema: JsonSchema, form: OutputForm): Promise<JsonSchema | undefined> {
  // Most agents answer with text: they do without.
  const { fitSchema } = await import("./fit-schema.ts");
  const known = fittings.get(schema) ?? new Map<OutputForm, JsonSchema | undefined>();
  fittings.set(schema, known);
  if (!known.has(form)) known.set(form, fitSchema(schema, form.schemas));
  return known.get(form);
}

/** Adds the schema to the system text, where it stays the same from question to question. */
function tellSchema({ prompt, tools = [] }: ModelCall, schema: JsonSchema): ModelMessage[] {
  const when = tools.length === 0 ? "Answer" : "When you need no more calls, answer";
  const words = `${when} with JSON alone, without words around it and without a block of code. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
  const [first, ...others] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: words }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${words}` }, ...others];
}

type Options = NonNullable<ModelCall["providerOptions"]>;

function mergeOptions(own: Options = {}, more: Options): Options {
  const merged = Object.entries(more).map(([name, options]) => [name, { ...options, ...own[name] }] as const);
  return { ...own, ...Object.fromEntries(merged) };
}

/** Whether a model may have refused a question because of the form of the answer. */
function mayBeTheForm(model: Model, cause: unknown): boolean {
  const { code, details } = toModelError(model, cause);
  const { status, reason = "" } = details as { readonly status?: number; readonly reason?: string };
  if (code === "model-refused") return status === undefined || status === 400 || status === 422;
  return code === "model-unavailable" && /grammar|schema|response_format/iu.test(reason);
}
