import { KitbagError, type UntilThen } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import type { LineSplitter } from "../../platform/lines.ts";
import type { ExitStatus, Profile, SandboxProcess } from "../../sandbox/sandbox.ts";
import { mostWorkFiles } from "../../sandbox/work-folder.ts";
import type { CallFolder } from "../files/call-folder.ts";
import type { Secrets } from "./load-secrets.ts";
import { createLineLog, type Output, readOutput, waitForEnd } from "./output/read-output.ts";
import { startsContent, toUntilThen } from "./output/to-result.ts";
import { toMethods } from "./rpc/script-methods.ts";
import { serveRpc } from "./rpc/serve-rpc.ts";

/** How much a script may say. */
export interface OutputLimits {
  /** On stdout. */
  readonly maxOutputBytes: number;
  /** How much of stderr is logged, and how much of its end is kept. */
  readonly maxErrorBytes: number;
}

/** A script that was started, and whom it belongs to. */
export interface Started {
  readonly tool: Tool;
  readonly context: RuntimeContext;
  readonly process: SandboxProcess;
  readonly secrets: Secrets;
  readonly limits: OutputLimits;
  readonly profile: Profile;
  /** What it was given in a folder of its own. */
  readonly folder: CallFolder | undefined;
}

/** What a script said, and how it ended. */
export interface Followed {
  readonly exit: ExitStatus;
  readonly stdout: string;
  readonly stderr: string;
  /** What Kitbag answered when it refused something to the script, the last time. */
  readonly refused?: KitbagError;
}

/**
 * Follows a script until it and everything that it started is gone, and hands on what it says on the way.
 *
 * @throws the reason of `context.signal` when it is aborted: the script is killed at once. {@link KitbagError} `output-flooded` if
 * it prints too much, or what `context.chunk` throws.
 */
export async function followScript(started: Started): Promise<Followed> {
  const { tool, context, process, secrets, folder } = started;
  const { show } = secrets;
  const rename = (text: string): string => folder?.show(text) ?? text;
  const describe = (): UntilThen => toUntilThen({ stdout: rename(stdout.text()), stderr: rename(stderr.text()), show });
  const stopper = createStopper(started, describe);
  const { stdout, stderr, lines } = readStreams(started, stopper);
  context.onTimeout(describe);
  const methods = toMethods({ tool, context, secrets, stream: stopper.stream });
  const rpc = serveRpc(process.channel, methods);
  const onAbort = (): void => process.kill();

  context.signal.addEventListener("abort", onAbort, { once: true });
  if (context.signal.aborted) onAbort();
  const stopWatching = folder?.watch(started.profile.limits.temporaryBytes, stopper.onFull) ?? (() => {});
  try {
    const exit = await process.exit;
    await Promise.all([
      stdout.settle(),
      stderr.settle(),
      waitForEnd(rpc.ended, { looks: rpcLooks, wasBusy: () => false }),
    ]);
    lines.end();
    stopper.stream(secrets.showPiece(""));
    context.signal.throwIfAborted();
    stopper.throwIfStopped();
    if (!stdout.isText()) context.log("Bytes on stdout that are no UTF-8 were replaced");
    const { refused } = rpc;
    const said = { stdout: rename(stdout.text()), stderr: rename(stderr.text()) };
    return { exit, ...said, ...(refused !== undefined && { refused }) };
  } finally {
    stopWatching();
    context.signal.removeEventListener("abort", onAbort);
    rpc.close();
  }
}

/** Ends a script that must not go on, and remembers why. */
interface Stopper {
  /** Hands on a piece of the output. */
  stream(chunk: JsonValue): void;
  onFlood(): void;
  /** What it wrote to its private folder is more than fits. */
  onFull(): void;
  throwIfStopped(): void;
}

function createStopper({ tool, context, process, limits, profile }: Started, describe: () => UntilThen): Stopper {
  let failure: { readonly cause: unknown } | undefined;

  function stopBy(cause: unknown): void {
    failure ??= { cause };
    process.kill();
  }

  return {
    stream(chunk) {
      if (failure !== undefined || chunk === "") return;
      try {
        context.chunk(chunk);
      } catch (cause) {
        stopBy(cause);
      }
    },
    onFlood() {
      const limitBytes = limits.maxOutputBytes;
      stopBy(new KitbagError("output-flooded", { tool: tool.name, limitBytes, untilThen: describe() }));
    },
    onFull() {
      const most = `${profile.limits.temporaryBytes} bytes or ${mostWorkFiles} files`;
      const reason = `it wrote more than ${most} to its private folder, or hid some there; let it write less, or grant it a folder to write`;
      stopBy(new KitbagError("tool-failed", { tool: tool.name, reason }));
    },
    throwIfStopped() {
      if (failure !== undefined) throw failure.cause;
    },
  };
}

interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly lines: LineSplitter;
}

function readStreams(
  { tool, context, process, secrets, limits, folder }: Started,
  { stream, onFlood }: Stopper,
): Streams {
  const { maxOutputBytes, maxErrorBytes } = limits;
  const rename = (text: string): string => folder?.show(text) ?? text;
  let isContent: boolean | undefined;
  const lines = createLineLog((line) => context.log(secrets.showMessage(rename(line))), maxErrorBytes);
  const stdout = readOutput(process.stdout, {
    keptBytes: maxOutputBytes,
    maxBytes: maxOutputBytes,
    onFlood,
    // Pieces of JSON are of no use.
    ...(tool.outputSchema === undefined && {
      onText: (text: string) => {
        isContent ??= startsContent(text);
        if (!isContent) stream(secrets.showPiece(rename(text)));
      },
    }),
  });
  const stderr = readOutput(process.stderr, {
    keptBytes: maxErrorBytes,
    maxBytes: Math.max(maxOutputBytes, maxErrorBytes),
    onFlood,
    onText: (text) => lines.push(Buffer.from(text)),
  });
  return { stdout, stderr, lines };
}

/** How patiently messages are heard that a script sent just before it ended: a second. */
const rpcLooks = 40;
