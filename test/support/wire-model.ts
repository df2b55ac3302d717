import { onTestFinished } from "vitest";

import type { ScriptedAnswer } from "./model-server-answer.ts";
import { startModelServer, type ModelServer, type Script } from "./model-server.ts";

/** A model that a program in a process of its own can ask. */
export interface WireModel {
  readonly server: ModelServer;
  /** What the program needs in its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a model that answers as the script says, behind the wire format of OpenAI's chat completions. */
export async function startWireModel(script: Script): Promise<WireModel> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const env = {
    OPENAI_BASE_URL: server.url("openai-chat"),
    OPENAI_API_KEY: server.key,
    KITBAG_MODEL: "openai-chat/gpt-5.4-nano",
  };
  return { server, env };
}

/** An answer that asks for one call. */
export function toCall(name: string, input: Readonly<Record<string, unknown>>, id = "call_1"): ScriptedAnswer {
  return { calls: [{ id, name, input }] };
}
