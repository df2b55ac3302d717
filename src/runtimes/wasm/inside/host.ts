/**
 * The program that holds the workers, inside the sandbox. It speaks frames over descriptor 3 and ends when that is closed. It sees
 * untrusted modules, so the runtime checks all that it says.
 */
// oxlint-disable-next-line no-restricted-imports -- descriptor 3 is a socket; there is no network inside
import { Socket } from "node:net";

import { checkModule, RefusedModule } from "./module/check-module.ts";
import { limitModule } from "./module/limit-module.ts";
import { webAssembly, type CompiledModule } from "./module/web-assembly.ts";
import { createWorkerPool, type WorkerPool } from "./pool/worker-pool.ts";
import { createFrameReader, toFrame } from "./wire/frames.ts";
import type { FromHost, HostSettings, Root, ToHost } from "./wire/messages.ts";

type Loaded = { readonly module: CompiledModule } | { readonly reason: string };

const channel = new Socket({ fd: 3 });
const read = createFrameReader<ToHost>(Number.MAX_SAFE_INTEGER);
const modules = new Map<string, Loaded | Promise<Loaded>>();
/** Calls whose module is still compiled. */
const early = new Set<number>();
let settings: HostSettings | undefined;
let pool: WorkerPool | undefined;

channel.on("data", (chunk: Buffer) => {
  for (const { header, payload } of read(chunk)) hear(header, payload);
});
channel.on("close", () => process.exit(0));
tell({ type: "ready" });

function tell(header: FromHost, payload?: Uint8Array): void {
  channel.write(toFrame(header, payload));
}

function hear(message: ToHost, payload: Uint8Array): void {
  switch (message.type) {
    case "start":
      settings = message;
      pool = createWorkerPool(message, {
        begin: (id) => {
          if (message.roots.some(isWritable)) tell({ type: "begin", id });
        },
        stderr: (id, bytes) => tell({ type: "stderr", id }, bytes),
        ask: (id, bytes) => tell({ type: "ask", id }, bytes),
        end: (id, end, output) => tell({ type: "end", id, end }, output),
      });
      break;
    case "module":
      void keep(message.digest, load(payload));
      break;
    case "forget":
      modules.delete(message.digest);
      pool?.forget(message.digest);
      break;
    case "call":
      void call(message, payload);
      break;
    case "cancel":
      if (early.delete(message.id)) tell({ type: "end", id: message.id, end: { kind: "cancelled" } });
      else pool?.cancel(message.id);
      break;
    case "answer":
      pool?.answer(message.id, payload);
      break;
  }
}

function isWritable({ access, only }: Root): boolean {
  return access === "write" || Object.values(only).includes("write");
}

async function keep(digest: string, loading: Promise<Loaded>): Promise<void> {
  modules.set(digest, loading);
  modules.set(digest, await loading);
}

async function load(bytes: Uint8Array): Promise<Loaded> {
  try {
    const module = await webAssembly.compile(limitModule(bytes, settings?.limits.memoryBytes ?? 0));
    checkModule(module);
    return { module };
  } catch (cause) {
    if (cause instanceof RefusedModule) return { reason: cause.message };
    return { reason: `it is no valid module: ${cause instanceof Error ? cause.message : "it does not compile"}` };
  }
}

function call(message: ToHost & { readonly type: "call" }, input: Uint8Array): void | Promise<void> {
  const { id, digest, args, environment } = message;
  const begin = (loaded: Loaded): void => {
    if ("reason" in loaded) tell({ type: "end", id, end: { kind: "refused", reason: loaded.reason } });
    else pool?.run({ id, digest, args, environment, input }, loaded.module);
  };
  const loaded = modules.get(digest) ?? { reason: "its bytes are not here" };
  // One that is ready begins at once; the first call waits until it is compiled.
  if (!(loaded instanceof Promise)) return begin(loaded);
  early.add(id);
  return loaded.then((ready) => {
    if (early.delete(id)) begin(ready);
  });
}
