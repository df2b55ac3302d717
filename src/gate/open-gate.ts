import type { Gate, GateOptions } from "./gate.ts";

/**
 * Opens a listener: on loopback unless told otherwise, and elsewhere only with a token or OAuth. Every request passes the
 * checks of `Host`, `Origin`, token and limits before a route sees it.
 *
 * @throws {KitbagError} `gate-unprotected` if the network could reach it without a token or OAuth
 * @throws {KitbagError} `listen-failed` if the address is taken or not ours
 * @throws {KitbagError} `option-invalid` if an option is wrong
 *
 * @example
 * ```ts
 * import { openGate } from "kitbag/mcp";
 *
 * const gate = await openGate({
 *   tokens: [{ token: "replace-this-by-32-random-bytes", id: "ann", scopes: ["tools:read"] }],
 *   routes: [{ path: "/who", handle: ({ caller, response }) => void response.end(caller.id) }],
 * });
 * const ask = (token: string) => fetch(`${gate.url}/who`, { headers: { authorization: `Bearer ${token}` } });
 * console.assert((await ask("wrong")).status === 401);
 * console.assert((await (await ask("replace-this-by-32-random-bytes")).text()) === "ann");
 * await gate.close();
 * ```
 */
export async function openGate(options: GateOptions): Promise<Gate> {
  // A server that speaks over stdio alone needs neither Node's HTTP nor the checks.
  const { createGate } = await import("./create-gate.ts");
  return createGate(options);
}
