import { KitbagError } from "../../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../../core/json.ts";
import type { RuntimeContext } from "../../../core/runtime.ts";
import type { StateExpectation, StateListOptions, StateOptions, ToolState } from "../../../core/tool-state.ts";
import type { Tool } from "../../../core/tool.ts";
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
  /** Takes secrets out of whatever is shown. */
  readonly show: <Value>(value: Value) => Value;
}

/** Makes the methods that a script can call: each does what the tool itself may do, and nothing more. */
export function toMethods(powers: ScriptPowers): RpcMethods {
  const { context, show, stream } = powers;
  return new Map<string, (params: JsonObject) => unknown>([
    ...stateMethods(context),
    ["progress", (params) => context.progress(show(toProgress(params)))],
    ["log", (params) => context.log(show(text(params, "message")), show(params["data"] ?? undefined))],
    ["stream", (params) => stream(show(params["chunk"] ?? null))],
    // A shell has no numbers, only texts.
    ["spend", ({ costUsd }) => context.spend(Number(costUsd))],
    ["call", (params) => call(context, params)],
    ["secret", (params) => findSecret(powers, text(params, "name"))],
  ]);
}

function stateMethods(context: RuntimeContext): readonly (readonly [string, (params: JsonObject) => unknown])[] {
  const stateOf = ({ scope }: JsonObject): ToolState => (scope === "skill" ? context.skillState : context.state);
  return [
    ["state.get", (params) => stateOf(params).get(text(params, "key"))],
    ["state.read", (params) => stateOf(params).read(text(params, "key"))],
    ["state.set", (params) => stateOf(params).set(text(params, "key"), value(params), expiry(params))],
    ["state.delete", (params) => stateOf(params).delete(text(params, "key"))],
    ["state.list", (params) => stateOf(params).list(prefixOf(params), part(params))],
    [
      "state.keys",
      async (params) => (await stateOf(params).list(prefixOf(params), part(params))).map(({ key }) => key),
    ],
    [
      "state.compareAndSet",
      (params) => stateOf(params).compareAndSet(text(params, "key"), expected(params), value(params), expiry(params)),
    ],
  ];
}

function text(params: JsonObject, name: string): string {
  const found = params[name];
  if (typeof found === "string") return found;
  throw new RpcError(rpcCodes.wrongParams, `Cannot use "${name}": found ${showValue(found)}, expected a text`);
}

function prefixOf({ prefix }: JsonObject): string | undefined {
  return typeof prefix === "string" ? prefix : undefined;
}

function value(params: JsonObject): JsonValue {
  if (Object.hasOwn(params, "value")) return params["value"] ?? null;
  throw new RpcError(rpcCodes.wrongParams, `Cannot keep nothing: give "value"`);
}

function expiry({ expiresInMs }: JsonObject): StateOptions {
  // Helpers write null for what is not given.
  return typeof expiresInMs === "number" ? { expiresInMs } : {};
}

function part({ after, limit }: JsonObject): StateListOptions {
  return { ...(typeof after === "string" && { after }), ...(typeof limit === "number" && { limit }) };
}

function expected(params: JsonObject): StateExpectation {
  const { version } = params;
  if (typeof version === "number") return { version };
  return { value: Object.hasOwn(params, "expected") ? (params["expected"] ?? null) : undefined };
}

/** How much of a message is told: a script may tell thousands. */
const longestProgress = 1000;

function toProgress({ message, done, total }: JsonObject): { message?: string; done?: number; total?: number } {
  return {
    ...(typeof message === "string" && { message: message.slice(0, longestProgress) }),
    ...(typeof done === "number" && { done }),
    ...(typeof total === "number" && { total }),
  };
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
