import {
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type InputRequests,
} from "@modelcontextprotocol/server";

import { canElicit, findMissingCapabilities, type ClientAnswers } from "./client-questions.ts";
import type { Ask } from "./question-line.ts";

/**
 * What a tool may ask of the MCP client that calls it. A tool gets it by declaring `inject: { mcp: injected<McpClientAccess>() }`; when
 * somebody else calls the tool there is none, and the call fails with `injection-missing`.
 *
 * The call waits for the answers, and its deadline goes on meanwhile: give the tool a `limitMs` that a person can meet.
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
}

/** An access, and what was asked for in vain. */
export interface WatchedAccess {
  readonly access: McpClientAccess;
  /** Set when something was asked that the client cannot answer. */
  missing(): MissingRequiredClientCapabilityError | undefined;
}

/** Makes the access for one call. */
export function createClientAccess(ask: Ask, capabilities: ClientCapabilities | undefined): WatchedAccess {
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
    },
  };
}
