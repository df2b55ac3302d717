import { hash } from "node:crypto";

import {
  estimateMessageTokens,
  estimateToolTokens,
  type ModelCall,
  type ModelMessage,
  type ModelTool,
} from "kitbag/models";

/** What questions cost at a provider that remembers how prompts begin. */
export interface PrefixCache {
  ask(call: ModelCall): void;
  readonly paid: Paid;
}

/** Tokens of input, and how often a prompt did not begin with the one before. */
export interface Paid {
  questions: number;
  raw: number;
  /** What is read from the cache counts a tenth, what is written to it one and a quarter, as most providers have it. */
  priced: number;
  lostPrefixes: number;
}

/**
 * A provider's cache: tools come first, then the system text, then the messages, each a place up to which a prompt can be remembered.
 * What any earlier prompt began with is read; everything behind it is written.
 */
export function createPrefixCache(): PrefixCache {
  const known = new Set<string>();
  const paid: Paid = { questions: 0, raw: 0, priced: 0, lostPrefixes: 0 };
  let last = "";

  return {
    paid,
    ask(call) {
      let prefix = "";
      let isKnown = true;
      let hasLast = last === "";
      for (const { text, tokens } of toBlocks(call)) {
        prefix = hash("sha256", prefix + text);
        isKnown &&= known.has(prefix);
        known.add(prefix);
        paid.raw += tokens;
        paid.priced += tokens * (isKnown ? 0.1 : 1.25);
        if (prefix === last) hasLast = true;
      }
      paid.questions += 1;
      if (!hasLast) paid.lostPrefixes += 1;
      last = prefix;
    },
  };
}

/** A piece of a prompt behind which it can be cut. */
interface Block {
  readonly text: string;
  readonly tokens: number;
}

function toBlocks({ tools = [], prompt }: ModelCall): readonly Block[] {
  return [
    ...(tools as readonly ModelTool[]).map((tool) => ({
      text: JSON.stringify(tool),
      tokens: estimateToolTokens(tool),
    })),
    ...prompt.map(toBlock),
  ];
}

/** A message may change the list of tools; what only says where a prompt can be cut is nothing that a model reads. */
function toBlock(message: ModelMessage): Block {
  const { toolChanges = [] } = (message.providerOptions?.["anthropic"] ?? {}) as { readonly toolChanges?: unknown[] };
  const text = JSON.stringify([message.role, message.content, toolChanges]);
  return { text, tokens: estimateMessageTokens(message) };
}
