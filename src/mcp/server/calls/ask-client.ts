import {
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type InputRequests,
} from "@modelcontextprotocol/server";

import { copyJson, isRecord, maxJsonDepth } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import { checkLeniently } from "../../../core/schema/validator.ts";

/**
 * What a tool may ask of the MCP client that calls it. A tool gets it by declaring `inject: { mcp: injected<McpClientAccess>() }`; when
 * another kind of caller uses the tool, the call fails with `injection-missing`.
 *
 * The call waits for the answers, and its deadline runs meanwhile: give the tool a `limitMs` that a person can meet.
 */
export interface McpClientAccess {
  /** Tells whether the client says that it can be asked this. */
  can(what: "elicitation" | "sampling" | "roots"): boolean;
  /**
   * Asks the client: for input of its person (`elicitation/create`), for a text of its model (`sampling/createMessage`), for its folders
   * (`roots/list`), or several of them at once. Made with `inputRequired` of the SDK. What an accepted form holds fits its schema;
   * the rest is as the client sent it.
   *
   * Rejects if the client lacks a capability for it, and when the call is cancelled.
   */
  ask(questions: InputRequests): Promise<ClientAnswers>;
  /**
   * Says that the call takes long, so that a client that knows tasks gets a handle now, and does not wait. Without it, this happens
   * after some seconds. What is asked before is answered before the client gets the handle.
   *
   * @throws if the client does not know tasks: call it only where the tool can do without those clients.
   */
  continueAsTask(): void;
}

/** The answers of a client, by the keys of the questions. Checked: an accepted answer fits its form. */
export type ClientAnswers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** How a question is asked. */
export interface AskOptions {
  /** Whether an answer counts that came with the first request, before the question. @default false */
  readonly takeEarly?: boolean;
  /** Aborted when the answer is no longer needed: the question is withdrawn. */
  readonly signal?: AbortSignal;
}

/** Asks the client. Rejects when the call is cancelled, or has asked too often. */
export type AskClient = (questions: InputRequests, options?: AskOptions) => Promise<ClientAnswers>;

/** An access, and the capability that a tool missed. */
export interface WatchedAccess {
  readonly access: McpClientAccess;
  /** Set when a tool asked what the client cannot answer. */
  missing(): MissingRequiredClientCapabilityError | undefined;
}

/** Makes the access for one call. `wantTask` is there if the client knows tasks. */
export function createClientAccess(
  ask: AskClient,
  capabilities: ClientCapabilities | undefined,
  wantTask?: () => void,
): WatchedAccess {
  let missing: MissingRequiredClientCapabilityError | undefined;
  return {
    missing: () => missing,
    access: {
      can: (what) => (what === "elicitation" ? canElicit(capabilities) : capabilities?.[what] !== undefined),
      async ask(questions) {
        const lacks = findMissingCapabilities(questions, capabilities);
        if (lacks === undefined) return ask(questions, { takeEarly: true });
        missing = new MissingRequiredClientCapabilityError(
          { requiredCapabilities: lacks },
          `Cannot ask the client: it does not say that it can do ${Object.keys(lacks).join(" and ")}`,
        );
        throw missing;
      },
      continueAsTask() {
        if (wantTask !== undefined) return wantTask();
        missing = refuseWithoutTasks("make the call a task");
        throw missing;
      },
    },
  };
}

/** The extension that lets a call go on after its request: the client gets a handle, and asks how far the call is. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Refuses a client that does not know tasks. */
export function refuseWithoutTasks(what: string): MissingRequiredClientCapabilityError {
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  const message = `Cannot ${what}: the client does not declare the extension ${tasksExtension}`;
  return new MissingRequiredClientCapabilityError({ requiredCapabilities }, message);
}

/** The capabilities that a client lacks to be asked these questions; `undefined` if it has them all. */
function findMissingCapabilities(
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

/** Tells whether a client can put a question to its person. A client that does not say how can show a form. */
export function canElicit(capabilities: ClientCapabilities | undefined, mode: "form" | "url" = "form"): boolean {
  const { elicitation } = capabilities ?? {};
  if (elicitation === undefined) return false;
  if (mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** Tells whether a client says that it can be asked anything while it waits for an answer. */
export function canBeAsked(capabilities: ClientCapabilities | undefined): boolean {
  return (
    capabilities?.elicitation !== undefined || capabilities?.sampling !== undefined || capabilities?.roots !== undefined
  );
}

/** The largest answer that is read. */
const answerLimits = { maxBytes: 1024 * 1024, maxDepth: maxJsonDepth };

/** The answers to questions; `undefined` if one is missing or does not fit its form: then the questions are asked again. */
export function checkAnswers(questions: InputRequests, given: Fields): ClientAnswers | undefined {
  const answers: Record<string, Fields> = {};
  for (const [key, question] of Object.entries(questions)) {
    const answer = checkAnswer(question, Object.hasOwn(given, key) ? given[key] : undefined);
    if (answer === undefined) return undefined;
    answers[key] = answer;
  }
  return answers;
}

/** The answer to a question; `undefined` if it does not fit its form. */
export function checkAnswer(question: InputRequests[string], given: unknown): ClientAnswers[string] | undefined {
  const copy = copyJson(given, answerLimits);
  if (!copy.ok || !isRecord(copy.value)) return undefined;
  return question.method === "elicitation/create" ? checkForm(question.params, copy.value) : copy.value;
}

type Fields = Readonly<Record<string, unknown>>;

function checkForm(params: object, { action, content }: Fields): Fields | undefined {
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  if (!("requestedSchema" in params)) return { action };
  const checked = checkLeniently(params.requestedSchema as JsonSchema, (content ?? {}) as never);
  return checked.ok ? { action, content: checked.value } : undefined;
}
