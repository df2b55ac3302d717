import { inputRequired, type PrimitiveSchemaDefinition } from "@modelcontextprotocol/server";

import { toVisibleText } from "../../../core/hidden-characters.ts";
import { isRecord } from "../../../core/json.ts";
import { isSecretField } from "../../../core/redaction/match-secrets.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ApprovalDecision, ApprovalRequest, Approve } from "../../../workspace/call/call-options.ts";
import { cutText } from "../../../core/cut-text.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import type { AskClient } from "./ask-client.ts";
import type { CallTarget, PlannedCall } from "./call-target.ts";
import { UnansweredError } from "./pausable-call.ts";

const longestInput = 4000;
const longestDescription = 300;
const longestReason = 2000;

/** How a person says yes or no. */
export const approvalForm = {
  type: "object" as const,
  properties: {
    approve: { type: "boolean" as const, title: "Allow this call", default: false },
    reason: { type: "string" as const, title: "If not: why", maxLength: 500 },
  },
  required: ["approve"],
};

/** Makes the approver that asks the person at the client whether a call may be made. */
export function askApproval(ask: AskClient): Approve {
  return async (request) => {
    const question = inputRequired.elicit({ message: renderQuestion(request), requestedSchema: approvalForm });
    const answers = await ask({ approval: question }, { signal: request.signal }).catch(toUnanswered);
    if (answers instanceof UnansweredError) return { decision: "deny", reason: answers.message };
    return withQuestion(toDecision(answers["approval"] ?? {}), request);
  };
}

/** A call that was denied says why its caller was asked, and so what would let it run unasked: some clients answer without a person. */
function withQuestion(decision: ApprovalDecision, { reason }: ApprovalRequest): ApprovalDecision {
  if (decision.decision === "approve" || reason === undefined) return decision;
  return { ...decision, reason: `${decision.reason}; the question was: ${reason}` };
}

/** A client that fails to answer does not fail the call: the call says what it lacks. */
export function toUnanswered(cause: unknown): UnansweredError {
  if (cause instanceof UnansweredError) return cause;
  throw cause;
}

/** What a person said. */
export function toDecision({ action, content }: Readonly<Record<string, unknown>>): ApprovalDecision {
  const { approve, reason } = (content ?? {}) as Readonly<Record<string, unknown>>;
  if (action === "accept" && approve === true) return { decision: "approve" };
  if (typeof reason === "string" && reason !== "") return { decision: "deny", reason };
  // A client that can ask no person answers "cancel".
  const isAnswer = action === "accept" || action === "decline";
  return { decision: "deny", reason: isAnswer ? "the person at the client said no" : "the client gave no answer" };
}

/** What a person needs to decide: exactly what will run, with what the tool and the model wrote made visible. */
function renderQuestion({ address, tool, input, callers, reason }: ApprovalRequest): string {
  const text = JSON.stringify(input, undefined, 2);
  const shown =
    text.length > longestInput ? `${cutText(text, longestInput)}\n… ${text.length} characters in all` : text;
  const what = cutText(toVisibleText(tool.description).split("\n", 1)[0] as string, longestDescription);
  const behalf = callers.length === 0 ? "" : `\nOn behalf of: ${callers.join(" → ")}`;
  // Before the input, which may be long: a client may show the beginning alone.
  const why = reason === undefined ? "" : `\nWhy you are asked: ${cutText(reason, longestReason)}`;
  return toVisibleText(`Allow the tool ${address} to run?\n${what}${why}${behalf}\n\nInput:\n${shown}`);
}

type Input = Readonly<Record<string, unknown>>;

/** A longer form would be an interrogation; the model gets the error instead. */
const mostFields = 8;

/**
 * The input of a target, with what the person at the client filled in for each call that it leads to. Where many calls lack input, the
 * person is not asked.
 */
export async function askMissingInput(target: CallTarget, given: unknown, ask: AskClient): Promise<unknown> {
  const calls = target.findCalls(given);
  if (calls.filter(lacksInput).length > mostFields) return given;
  const filled = calls.map(({ entry, input }) => (entry === undefined ? input : askForCall(entry, input, ask)));
  return target.replaceInputs(given, await Promise.all(filled));
}

/**
 * Asks the person at the client for required values that the model left out, if all of them are simple and none is a secret: the protocol
 * forbids to ask for secrets in a form. Answers with the input, filled in if they were given: whatever is still missing, the call says.
 */
async function askForCall({ tool, address }: RegisteredTool, given: unknown, ask: AskClient): Promise<unknown> {
  const form = toMissingForm(tool.inputSchema, given);
  if (form === undefined) return given;
  const message = toVisibleText(`The tool ${address} needs more than it was given.`);
  const question = inputRequired.elicit({ message, requestedSchema: form });
  const answers = await ask({ input: question }, { takeEarly: true }).catch(toUnanswered);
  const answer = answers instanceof UnansweredError ? undefined : answers["input"];
  return answer?.["action"] === "accept" ? { ...(given as Input | undefined), ...(answer["content"] as Input) } : given;
}

/** Tells whether a call lacks something that a person may be asked for. */
function lacksInput({ entry, input }: PlannedCall): boolean {
  return entry !== undefined && toMissingForm(entry.tool.inputSchema, input) !== undefined;
}

/** A type and no interface, because forms may hold more. */
type MissingForm = {
  readonly type: "object";
  readonly properties: Record<string, PrimitiveSchemaDefinition>;
  readonly required: string[];
};

/** The form for what is missing; `undefined` if nothing is, or something is that no form can hold or may ask for. */
function toMissingForm(schema: JsonSchema, given: unknown): MissingForm | undefined {
  const { required, properties } = schema;
  const input = given ?? {};
  if (!isRecord(input)) return undefined;
  if (!Array.isArray(required) || !isSchemaObject(properties)) return undefined;
  const missing = (required as readonly string[]).filter((name) => !Object.hasOwn(input, name));
  if (missing.length === 0 || missing.length > mostFields) return undefined;
  const fields: Record<string, PrimitiveSchemaDefinition> = {};
  for (const name of missing) {
    const field = Object.hasOwn(properties, name) ? toField(properties[name]) : undefined;
    if (field === undefined || name === "__proto__" || isSecretField(name, properties[name])) return undefined;
    fields[name] = field;
  }
  return { type: "object", properties: fields, required: missing };
}

/** What a form can say of a field, by type; anything else of a schema is checked when the call is made. */
const keptKeywords: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
};

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);

function toField(schema: unknown): PrimitiveSchemaDefinition | undefined {
  if (!isSchemaObject(schema)) return undefined;
  const { type, title, description } = schema;
  if (typeof type !== "string" || !Object.hasOwn(keptKeywords, type)) return undefined;
  const rules = schema["enum"] === undefined ? toRules(schema, type) : toChoice(schema["enum"], type);
  if (rules === undefined) return undefined;
  return {
    type,
    ...(typeof title === "string" && { title: toVisibleText(title) }),
    ...(typeof description === "string" && { description: toVisibleText(description) }),
    ...rules,
  } as PrimitiveSchemaDefinition;
}

function toRules(schema: JsonSchema, type: string): object {
  const kept = (keptKeywords[type] ?? []).filter((keyword) => schema[keyword] !== undefined);
  const hasFormat = type === "string" && formats.has(schema["format"]);
  return {
    ...Object.fromEntries(kept.map((keyword) => [keyword, schema[keyword]])),
    ...(hasFormat && { format: schema["format"] }),
  };
}

function toChoice(choices: unknown, type: string): object | undefined {
  const isChoice = Array.isArray(choices) && choices.every((choice) => typeof choice === "string");
  return isChoice && type === "string" ? { enum: choices } : undefined;
}
