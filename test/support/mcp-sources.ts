import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { onTestFinished } from "vitest";

import type { McpAddress, McpProgram, McpSource } from "../../src/core/mcp-source.ts";
import type { CallEvent } from "../../src/core/events.ts";
import { toTools } from "../../src/mcp/client/to-tools.ts";
import { type McpEvent, type McpRuntime, startMcp } from "../../src/runtimes/mcp/mcp-runtime.ts";
import { startRuntimes } from "../../src/runtimes/start-runtimes.ts";
import type { RuntimesOptions } from "../../src/runtimes/runtimes-options.ts";
import type { RestartPolicy } from "../../src/runtimes/mcp/server-link.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";

const root = resolve(import.meta.dirname, "../..");

/** Where the programs are that tests use as servers. */
export const serverFolder: string = join(root, "test/support/mcp-servers");

/** A server of the test folder, by its file, as a source. */
export function programOf(file: string, args: readonly string[] = [], more: Partial<McpProgram> = {}): McpProgram {
  const { read = [], ...others } = more.permissions ?? {};
  const permissions = { read: [serverFolder, join(root, "node_modules"), ...read], ...others };
  return { name: "other", command: "node", args: [join(serverFolder, file), ...args], ...more, permissions };
}

/** Makes a temporary directory that is removed after the test. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A runtime of other servers, closed after the test. */
export interface OpenMcp {
  readonly runtime: McpRuntime;
  readonly events: McpEvent[];
  readonly home: string;
  /** Connects to a server and makes a workspace of all that it offers. */
  open(source: McpSource | McpAddress): Promise<Workspace>;
}

/** Opens a runtime of other servers with a real sandbox. */
export function openMcp(options: RuntimesOptions & { readonly restarts?: Partial<RestartPolicy> } = {}): OpenMcp {
  const home = options.home ?? makeDirectory();
  const { restarts, ...own } = options;
  let started: ReturnType<typeof startRuntimes> | undefined;
  const start = (): ReturnType<typeof startRuntimes> => (started ??= startRuntimes({ ...own, home, warm: false }));
  const runtime = startMcp({ ...own, home }, start, restarts);
  const events: McpEvent[] = [];
  runtime.onEvent((event) => events.push(event));
  onTestFinished(async () => {
    await runtime.close();
    await (await started)?.close();
  });
  return {
    runtime,
    events,
    home,
    async open(source) {
      const { definitions } = await runtime.connect(source);
      const { tools } = toTools(source, definitions.tools.values());
      return createWorkspace({ runtimes: [runtime], components: [{ name: source.name, tools }] });
    },
  };
}

/** Waits until a call has told something of this type. */
export function untilEvent(type: CallEvent["type"]): {
  onEvent(event: CallEvent): void;
  readonly came: Promise<CallEvent>;
} {
  const { promise, resolve: done } = Promise.withResolvers<CallEvent>();
  return {
    came: promise,
    onEvent: (event) => {
      if (event.type === type) done(event);
    },
  };
}
