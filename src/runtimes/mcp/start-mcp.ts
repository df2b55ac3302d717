import { homedir } from "node:os";
import { join } from "node:path";

import { findSandbox, type FoundSandbox } from "../../sandbox/find-sandbox.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { ReservedPlaces } from "../../sandbox/reserved-places.ts";
import type { RuntimesOptions } from "../runtimes-options.ts";
import { mcpRuntime, type McpRuntime } from "./mcp-runtime.ts";
import type { RestartPolicy } from "./server-link.ts";

/** The sandbox of the other runtimes, and what it protects. */
interface Shared {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  readonly reserved: ReservedPlaces;
}

/** Makes the runtime of other MCP servers. It uses the sandbox that scripts have, once a program must be started. */
export function startMcp(
  options: RuntimesOptions,
  start: () => Promise<Shared>,
  restarts: Partial<RestartPolicy> = {},
): McpRuntime {
  const { home = join(homedir(), ".kitbag"), directory = process.cwd(), findSecret, limits } = options;
  let off: Promise<FoundSandbox> | undefined;
  let shared: Shared | undefined;

  const runtime = mcpRuntime({
    home,
    restarts,
    async findSandbox(name) {
      if (name === "off") return (off ??= findSandbox({ name }));
      shared = await start();
      return shared.sandbox;
    },
    toPlaces: (sandbox) => (sandbox === shared?.sandbox ? shared : { places: { directory } }),
    ...(findSecret !== undefined && { findSecret }),
    ...(limits !== undefined && { limits }),
  });
  if (options.onMcp !== undefined) runtime.onEvent(options.onMcp);
  return {
    ...runtime,
    async close() {
      await runtime.close();
      await (await off?.catch(() => undefined))?.close();
    },
  };
}
