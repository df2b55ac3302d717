import type { ModelCall } from "../model.ts";
import type { ServerLink } from "./server-link.ts";

/** With what context a question is asked, and what is told if it does not fit. */
export interface ContextPlan {
  /** The context that the server is asked for; `undefined` if it decides. */
  readonly tokens?: number;
  readonly warning?: string;
}

/** Every server reads so many tokens, whatever it says. */
const leastContext = 4096;
/** Room for an answer without a limit of its own. */
const answerTokens = 1024;
/** Tokens are estimated: a prompt may have a little more. */
const spare = 1.15;

/**
 * Decides with what context a question is asked. A server that can load the model with another context is asked for one that the prompt
 * and its answer fit into, in steps of twice the size, because each step loads the model again. Others read what they read.
 */
export function planContext(call: ModelCall, link: ServerLink, promptTokens: number): ContextPlan {
  const { growsContext } = link.server;
  const tokens = growsContext ? chooseContext(call, link, promptTokens) : undefined;
  const read = growsContext ? tokens : link.window();
  return {
    ...(tokens !== undefined && { tokens }),
    ...(read !== undefined && promptTokens > read && { warning: tooLong(link, promptTokens, read) }),
  };
}

/** What the caller wants, what is in use if that is enough, or more. */
function chooseContext(call: ModelCall, link: ServerLink, promptTokens: number): number | undefined {
  const given = call.providerOptions?.["ollama"]?.["numCtx"];
  if (typeof given === "number") return given;
  const { contextInUse, contextMax = Infinity } = link.last() ?? {};
  const needed = Math.ceil(promptTokens * spare) + (call.maxOutputTokens ?? answerTokens);
  if (needed <= (contextInUse ?? leastContext)) return contextInUse;
  return Math.min(contextMax, Math.max(2 * leastContext, 2 ** Math.ceil(Math.log2(needed))));
}

function tooLong({ server }: ServerLink, promptTokens: number, window: number): string {
  return `${server.title} reads ${show(window)} tokens of this model, and the prompt has about ${show(promptTokens)}: it may cut the prompt, or refuse it; load the model with a larger context, or shorten the conversation`;
}

/** The least number of tokens that a cut is told about: smaller numbers leave out what the server had in its cache. */
const leastCut = 1024;

/** Compares what a server says that it has read with what it was sent; a text if it read much less, as a server does that cuts. */
export function findCut(link: ServerLink, promptTokens: number, readTokens: number | undefined): string | undefined {
  if (readTokens === undefined || readTokens < leastCut || readTokens > promptTokens * 0.6) return undefined;
  return `${link.server.title} says that it read ${show(readTokens)} tokens of a prompt of about ${show(promptTokens)}: it cut the prompt, and the answer may ignore what was cut; load the model with a larger context, or shorten the conversation`;
}

function show(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
