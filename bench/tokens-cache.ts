import { hash } from "node:crypto";

import type { ModelCall } from "kitbag/models";

import { estimateTokens } from "../src/core/estimate-tokens.ts";

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
      for (const block of toBlocks(call)) {
        prefix = hash("sha256", prefix + block);
        isKnown &&= known.has(prefix);
        known.add(prefix);
        const tokens = estimateTokens(block);
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

/** What a provider's model reads: changes of the list of tools too, but not what only says where a prompt can be cut. */
function toBlocks({ tools = [], prompt }: ModelCall): readonly string[] {
  return [...tools, ...prompt].map((block) =>
    JSON.stringify(block, (name, value: unknown) => {
      if (name !== "providerOptions") return value;
      const { toolChanges } = (value as { readonly anthropic?: { readonly toolChanges?: unknown } }).anthropic ?? {};
      return toolChanges;
    }),
  );
}
