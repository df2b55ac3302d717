import { KitbagError } from "../../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../../core/json.ts";
import type { Progress } from "../../../core/events.ts";
import type { RuntimeContext } from "../../../core/runtime.ts";
import type { Tool } from "../../../core/tool.ts";
import { createStateFunctions } from "../../state-functions.ts";
import type { Secrets } from "../load-secrets.ts";
import { rpcCodes, RpcError } from "./message.ts";
import type { RpcMethods } from "./serve-rpc.ts";

/** What a script may ask for. */
export interface ScriptPowers {
  readonly tool: Tool;
  readonly context: RuntimeContext;
  /** The values of the names that the tool may see. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Hands on a piece of the output. */
  readonly stream: (chunk: JsonValue) => void;
  /** Takes secrets out of whatever is shown, of a text that comes in pieces, and of one of several messages. */
  readonly shown: Pick<Secrets, "show" | "showPiece" | "showMessage">;
}

/** Makes the methods that a script can call: each does what the tool itself may do, and nothing more. */
export function toMethods(powers: ScriptPowers): RpcMethods {
  const { context, stream } = powers;
  const { show, showMessage } = powers.shown;
  return new Map<string, (params: JsonObject) => unknown>([
    ...createStateFunctions(context, wrongParam),
    ["progress", (params) => context.progress(toProgress(params, showMessage))],
    ["log", (params) => context.log(showMessage(text(params, "message")), show(params["data"] ?? undefined))],
    ["stream", (params) => stream(toChunk(params["chunk"] ?? null, powers.shown))],
    // A shell has no numbers, only texts.
    ["spend", ({ costUsd }) => context.spend(Number(costUsd))],
    ["call", (params) => call(context, params)],
    ["user", () => context.user],
    ["secret", (params) => findSecret(powers, text(params, "name"))],
  ]);
}

function text(params: JsonObject, name: string): string {
  const found = params[name];
  if (typeof found === "string") return found;
  throw wrongParam(name, showValue(found), "a text");
}

function wrongParam(name: string, found: string, expected: string): RpcError {
  return new RpcError(rpcCodes.wrongParams, `Cannot use "${name}": found ${found}, expected ${expected}`);
}

/** How much of a message is told: a script may tell thousands. */
const longestProgress = 1000;

function toProgress({ message, done, total }: JsonObject, show: Secrets["showMessage"]): Progress {
  return {
    ...(typeof message === "string" && { message: show(message).slice(0, longestProgress) }),
    ...(typeof done === "number" && { done }),
    ...(typeof total === "number" && { total }),
  };
}

/** Texts belong together, with those on stdout: a secret may be cut between two of them. The empty one would end the text. */
function toChunk(chunk: JsonValue, { show, showPiece }: ScriptPowers["shown"]): JsonValue {
  return typeof chunk === "string" && chunk !== "" ? showPiece(chunk) : show(chunk);
}

async function call(context: RuntimeContext, params: JsonObject): Promise<JsonValue> {
  const outcome = await context.call(text(params, "tool"), params["input"] ?? {});
  if (outcome.status === "ok") return outcome.output;
  const { code, details } = outcome.error;
  throw new KitbagError(code, details);
}

function findSecret({ tool, secrets }: ScriptPowers, name: string): string | undefined {
  if (!(tool.permissions.env ?? []).includes(name)) {
    const reason = `it does not declare it; add it to its permissions: env = [${JSON.stringify(name)}]`;
    throw new KitbagError("permission-refused", { tool: tool.name, permission: `env ${name}`, reason });
  }
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
}
