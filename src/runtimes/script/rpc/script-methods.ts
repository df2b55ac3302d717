import { KitbagError } from "../../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { RuntimeContext } from "../../../core/runtime.ts";
import type { Tool } from "../../../core/tool.ts";
import { createToolFunctions, readText, type ToolFunction } from "../../tool-functions.ts";
import type { Secrets } from "../load-secrets.ts";
import { rpcCodes, RpcError } from "./message.ts";
import type { RpcMethods } from "./serve-rpc.ts";

/** What a script may ask for. */
export interface ScriptPowers {
  readonly tool: Tool;
  readonly context: RuntimeContext;
  /** The values of the names that the tool may see, and what takes them out of whatever is shown. */
  readonly secrets: Secrets;
  /** Hands on a piece of the output. */
  readonly stream: (chunk: JsonValue) => void;
}

/** Makes the methods that a script can call: each does what the tool itself may do, and nothing more. */
export function toMethods({ tool, context, secrets, stream }: ScriptPowers): RpcMethods {
  return new Map<string, ToolFunction>([
    ...createToolFunctions({ context, secrets, refuse: wrongParam }),
    ["stream", ({ chunk = null }) => stream(toChunk(chunk, secrets))],
    ["call", (params) => call(context, params)],
    ["secret", (params) => findSecret(tool, secrets, readText(params, "name", wrongParam))],
  ]);
}

function wrongParam(name: string, found: string, expected: string): RpcError {
  return new RpcError(rpcCodes.wrongParams, `Cannot use "${name}": found ${found}, expected ${expected}`);
}

/** Texts belong together, with those on stdout: a secret may be cut between two of them. The empty one would end the text. */
function toChunk(chunk: JsonValue, { show, showPiece }: Secrets): JsonValue {
  return typeof chunk === "string" && chunk !== "" ? showPiece(chunk) : show(chunk);
}

async function call(context: RuntimeContext, params: JsonObject): Promise<JsonValue> {
  const outcome = await context.call(readText(params, "tool", wrongParam), params["input"] ?? {});
  if (outcome.status === "ok") return outcome.output;
  const { code, details } = outcome.error;
  throw new KitbagError(code, details);
}

function findSecret({ name: tool, permissions }: Tool, { values }: Secrets, name: string): string | undefined {
  if (!(permissions.env ?? []).includes(name)) {
    const reason = `it does not declare it; add it to its permissions: env = [${JSON.stringify(name)}]`;
    throw new KitbagError("permission-refused", { tool, permission: `env ${name}`, reason });
  }
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
