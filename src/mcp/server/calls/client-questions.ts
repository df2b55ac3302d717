import type { ClientCapabilities, InputRequests } from "@modelcontextprotocol/server";

import { checkLeniently } from "../../../core/schema/validator.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import { copyJson, maxJsonDepth } from "../../../core/json.ts";

/** What clients say to questions, by the same keys. Checked: an answer that was accepted fits its form. */
export type ClientAnswers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The largest answer that is looked at. */
const maxAnswerBytes = 1024 * 1024;

/** The capabilities that a client lacks to be asked these questions; `undefined` if it has them all. */
export function findMissingCapabilities(
  questions: InputRequests,
  capabilities: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {};
  for (const { method, params } of Object.values(questions)) {
    if (method === "sampling/createMessage" && capabilities?.sampling === undefined) missing.sampling = {};
    if (method === "roots/list" && capabilities?.roots === undefined) missing.roots = {};
    if (method === "elicitation/create" && !canElicit(capabilities, params.mode === "url" ? "url" : "form")) {
      missing.elicitation = params.mode === "url" ? { url: {} } : {};
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** Tells whether a client can put a question to its person. Those that do not say how can show a form. */
export function canElicit(capabilities: ClientCapabilities | undefined, mode: "form" | "url" = "form"): boolean {
  const { elicitation } = capabilities ?? {};
  if (elicitation === undefined) return false;
  if (mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** The answers to questions, if each has one and every form that was accepted is filled in as it must be; else they are asked again. */
export function checkAnswers(
  questions: InputRequests,
  given: Readonly<Record<string, unknown>>,
): ClientAnswers | undefined {
  const answers: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [key, question] of Object.entries(questions)) {
    const copy = copyJson(Object.hasOwn(given, key) ? given[key] : undefined, limits);
    if (!copy.ok || !isFields(copy.value)) return undefined;
    const answer = question.method === "elicitation/create" ? checkForm(question.params, copy.value) : copy.value;
    if (answer === undefined) return undefined;
    answers[key] = answer;
  }
  return answers;
}

const limits = { maxBytes: maxAnswerBytes, maxDepth: maxJsonDepth };

function checkForm(params: object, answer: Fields): Fields | undefined {
  const { action, content } = answer;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  if (!("requestedSchema" in params)) return { action };
  const checked = checkLeniently(params.requestedSchema as JsonSchema, (content ?? {}) as never);
  return checked.ok ? { action, content: checked.value } : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
