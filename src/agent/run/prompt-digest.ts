import { hash } from "node:crypto";

import type { ModelMessage } from "../../models/model.ts";
import { toKeptMessage } from "../log/run-log.ts";

/**
 * Digests of what a model is shown, so that a replay can tell where it was shown something else. Each message is read once,
 * however often it is shown.
 */
export interface PromptDigest {
  of(system: string, messages: readonly ModelMessage[]): string;
}

/** Makes the digests of one run. */
export function createPromptDigest(): PromptDigest {
  let known: readonly ModelMessage[] = [];
  let chain = new DigestChain();

  return {
    of(system, messages) {
      // Messages are only ever added, unless the memory was compacted and there is another list.
      if (messages !== known) chain = new DigestChain();
      known = messages;
      while (chain.length < messages.length) chain.add(messages[chain.length] as ModelMessage);
      return `${chain.digest()}.${digestOfText(system)}`;
    },
  };
}

/**
 * The digest of messages that become more. It is computed once for each answer of the model and what follows it, and goes into the
 * next one: whether it was asked for in between, by this process or another, makes no difference.
 */
class DigestChain {
  length = 0;
  /** The digest of everything before the last answer. */
  #before = "";
  /** The last answer, and what follows it. */
  #since = "";
  #digest: string | undefined;

  add(message: ModelMessage): void {
    if (message.role === "assistant") {
      this.#before = this.digest();
      this.#since = "";
    }
    this.#since += JSON.stringify(toKeptMessage(message));
    this.#digest = undefined;
    this.length += 1;
  }

  digest(): string {
    return (this.#digest ??= toDigest(this.#before + this.#since));
  }
}

let lastText: { readonly text: string; readonly digest: string } = { text: "", digest: "" };

/** The system text is nearly always the one of the last question. Its digest is short: it stands beside another one. */
function digestOfText(text: string): string {
  // Whatever was asked before in this process.
  if (text === "") return "";
  if (text !== lastText.text) lastText = { text, digest: toDigest(text).slice(0, 16) };
  return lastText.digest;
}

function toDigest(text: string): string {
  return hash("sha256", text, "base64url");
}
