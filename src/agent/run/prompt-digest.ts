import { hash } from "node:crypto";

import type { ModelMessage, ModelTool } from "../../models/model.ts";
import { toKeptMessage } from "../log/kept-files.ts";

/**
 * Digests of what a model is shown, so that a replay can tell where it was shown something else. Each message is looked at once,
 * however often it is shown.
 */
export interface PromptDigest {
  of(system: string, messages: readonly ModelMessage[]): string;
}

/** Makes the digests of one run. */
export function createPromptDigest(): PromptDigest {
  let known: readonly ModelMessage[] = [];
  let digests: string[] = [];

  return {
    of(system, messages) {
      // Messages are only ever added, unless the memory was compacted and there is another list.
      if (messages !== known) digests = [];
      known = messages;
      for (let index = digests.length; index < messages.length; index++) {
        digests.push(
          toDigest(`${digests[index - 1] ?? ""}${JSON.stringify(toKeptMessage(messages[index] as ModelMessage))}`),
        );
      }
      return toDigest(`${digestOfText(system)}${digests.at(-1) ?? ""}`);
    },
  };
}

const ofTools = new WeakMap<readonly ModelTool[], string>();

/** The digest of a list of tools; computed once for each list. */
export function digestTools(tools: readonly ModelTool[]): string {
  let digest = ofTools.get(tools);
  if (digest === undefined) {
    digest = toDigest(JSON.stringify(tools));
    ofTools.set(tools, digest);
  }
  return digest;
}

let lastText: { readonly text: string; readonly digest: string } = { text: "", digest: "" };

/** The system text is nearly always the one of the last question. */
function digestOfText(text: string): string {
  if (text !== lastText.text) lastText = { text, digest: toDigest(text) };
  return lastText.digest;
}

function toDigest(text: string): string {
  return hash("sha256", text, "base64url");
}
