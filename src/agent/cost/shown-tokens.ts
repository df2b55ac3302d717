import type { ModelMessage } from "../../models/model.ts";
import { countPart } from "../../models/tokens/count-content.ts";
import { estimateMessageTokens, toTokens, type CountingModel } from "../../models/tokens/estimate-tokens.ts";
import { familyOf, type TokenFamily } from "../../models/tokens/token-family.ts";
import { conversation, holderOfCall, type CostHolder } from "./cost-holder.ts";
import { definitionsIn, definitionsOf, type Definition } from "./definitions.ts";

/** About how many tokens somebody is answerable for, of what a model is shown. */
export interface ShownTokens {
  readonly holder: CostHolder;
  input: number;
  /** Of the input: definitions of tools, and what came of calls. */
  schemas: number;
  results: number;
}

/** Counts whom the messages of a conversation are put down to, as it grows. */
export class ShownCounter {
  #messages: readonly ModelMessage[] = [];
  #family: TokenFamily = "usual";
  #count = 0;
  #byHolder = new Map<string, ShownTokens>();
  readonly #calls = new Map<string, CostHolder>();

  /** Of the first `count` messages. What is given back is good until the next time. */
  of(messages: readonly ModelMessage[], count: number, model: CountingModel): Iterable<ShownTokens> {
    const family = familyOf(model);
    if (messages !== this.#messages || family !== this.#family || count < this.#count) {
      this.#messages = messages;
      this.#family = family;
      this.#count = 0;
      this.#byHolder = new Map();
    }
    for (const message of messages.slice(this.#count, count)) this.#addMessage(message, model);
    this.#count = count;
    return this.#byHolder.values();
  }

  #addMessage(message: ModelMessage, model: CountingModel): void {
    if (typeof message.content !== "string" && message.role !== "user") {
      for (const part of message.content) this.#addPart(part);
      return;
    }
    const { definitions, rest } = definitionsIn(message);
    const tokens = estimateMessageTokens(message, model);
    this.#find(rest).input += Math.max(0, tokens - this.#addDefinitions(definitions));
  }

  /** Adds what is not to be put down to whoever said it, and tells how much it is. */
  #addDefinitions(definitions: readonly Definition[]): number {
    let sum = 0;
    for (const { holder, kind, count } of definitions) {
      const tokens = toTokens(count, this.#family);
      const shown = this.#find(holder);
      shown.input += tokens;
      shown[kind] += tokens;
      sum += tokens;
    }
    return sum;
  }

  #addPart(part: Exclude<ModelMessage["content"], string>[number]): void {
    const tokens = toTokens(countPart(part), this.#family);
    if (part.type === "tool-call") {
      const holder = holderOfCall(part.toolName, part.input);
      this.#calls.set(part.toolCallId, holder);
      this.#find(holder).input += tokens;
    } else if (part.type === "tool-result") {
      const shown = this.#find(this.#calls.get(part.toolCallId) ?? holderOfCall(part.toolName, undefined));
      const results = Math.max(0, tokens - this.#addDefinitions(definitionsOf(part)));
      shown.input += results;
      shown.results += results;
    } else {
      this.#find(conversation).input += tokens;
    }
  }

  #find(holder: CostHolder): ShownTokens {
    const key = keyOf(holder);
    let shown = this.#byHolder.get(key);
    if (shown === undefined) this.#byHolder.set(key, (shown = { holder, input: 0, schemas: 0, results: 0 }));
    return shown;
  }
}

/** A text that is the same for the same holder, and for no other. */
export function keyOf({ kind, name }: CostHolder): string {
  return `${kind} ${name}`;
}
