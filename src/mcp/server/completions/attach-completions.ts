import { ProtocolError, ProtocolErrorCode, type CompleteResult, type McpServer } from "@modelcontextprotocol/server";

import { nearestNames } from "../../../core/nearest.ts";
import { listPrompts } from "../prompts/attach-prompts.ts";
import type { ServedClient } from "../client.ts";
import { completePrompt, completeTemplate, type Typing } from "./own-completions.ts";
import { mostValues, pickValues } from "./pick-values.ts";

const longestTyped = 4096;

/** Serves completions for the arguments of prompts and of resource templates. Before the server is connected. */
export function attachCompletions(mcp: McpServer, client: ServedClient): void {
  const { server } = mcp;
  server.registerCapabilities({ completions: {} });

  server.setRequestHandler("completion/complete", async ({ params: { ref, argument, context } }) => {
    const typing: Typing = { argument: argument.name, value: argument.value, others: context?.arguments ?? {} };
    if (typing.value.length > longestTyped) return { completion: { values: [], total: 0, hasMore: false } };
    return ref.type === "ref/prompt" ? forPrompt(client, ref.name, typing) : forTemplate(client, ref.uri, typing);
  });
}

async function forPrompt(client: ServedClient, prompt: string, typing: Typing): Promise<CompleteResult> {
  const own = await completePrompt(client, prompt, typing);
  if (own !== undefined) return toResult(own, typing.value);
  for (const source of client.prompts) {
    const found = await source.complete?.(prompt, { name: typing.argument, value: typing.value });
    if (found !== undefined) return asGiven(found);
  }
  const known = listPrompts(client).map(({ name }) => name);
  if (known.includes(prompt)) return asGiven([]);
  const [nearest] = nearestNames(prompt, known);
  throw refuse(`Prompt not found: ${prompt.slice(0, 200)}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`);
}

async function forTemplate(client: ServedClient, template: string, typing: Typing): Promise<CompleteResult> {
  const own = await completeTemplate(client, template, typing);
  if (own !== undefined) return toResult(own, typing.value);
  for (const source of client.resources) {
    const found = await source.complete?.(template, { name: typing.argument, value: typing.value });
    if (found !== undefined) return asGiven(found);
  }
  const isKnown = client.resources.some(
    (source) =>
      source.templates?.().some((one) => one.uriTemplate === template) === true ||
      source.list?.().some((one) => one.uri === template) === true,
  );
  if (isKnown) return asGiven([]);
  throw refuse(`Resource template not found: ${template.slice(0, 200)}`);
}

function toResult(candidates: readonly string[], typed: string): CompleteResult {
  const { values, total, hasMore } = pickValues(candidates, typed);
  return { completion: { values: [...values], total, hasMore } };
}

/** What others complete is theirs to choose. */
function asGiven(values: readonly string[]): CompleteResult {
  return {
    completion: { values: values.slice(0, mostValues), total: values.length, hasMore: values.length > mostValues },
  };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
