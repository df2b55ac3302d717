import type { FileNamer, NamedFile, WrittenFile } from "./call-files.ts";
import type { UntilThen } from "./error-details.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ToolContext, Tool } from "./tool.ts";

/**
 * Where tools of one kind run.
 *
 * **Contract**: `run` gets an input that was checked and approved, and answers with the output, or throws; it need not check,
 * redact or cap anything. When `context.signal` is aborted it stops at once and leaves nothing running. It never calls another
 * tool but through `context.call`.
 */
export interface Runtime {
  /** The `kind` of the tools' code that it runs. */
  readonly kind: string;
  run(tool: Tool, input: unknown, context: RuntimeContext): unknown;
  /**
   * Finds the files that an input names. @default tools of this kind are given no files
   *
   * @throws {KitbagError} `file-denied` for one that this caller may not name.
   */
  findFiles?(tool: Tool, input: unknown, by: FileNamer): readonly NamedFile[] | Promise<readonly NamedFile[]>;
  /** Says where a tool runs, for the audit. @default in this process, and nothing holds it to its permissions */
  describe?(tool: Tool): RuntimeDescription | Promise<RuntimeDescription>;
}

/** Where a runtime runs a tool. */
export interface RuntimeDescription {
  /** The name of what holds the tool to its permissions. */
  readonly sandbox: string;
}

/** Where in a trace something happens, as it travels: in HTTP headers, and in `_meta` of MCP. */
export interface TraceContext {
  /** As the W3C says: `00-<trace>-<span>-<flags>`. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The files of one call. */
export interface CallFiles {
  /** What its input names, as `findFiles` found it and as it was allowed. */
  readonly named: readonly NamedFile[];
  /** Who names them. */
  readonly by: FileNamer;
  /** Reads what is kept under a handle for the caller. Rejects if nothing is. */
  read(handle: string): Promise<Uint8Array>;
  /** Tells of a file that the tool wrote; its bytes are kept if they are given and not too many. */
  add(file: Omit<WrittenFile, "handle">, bytes?: Uint8Array): Promise<void>;
}

/** A question of a program to the caller of a tool, as MCP has it: `elicitation/create`, `sampling/createMessage`. */
export interface CallerQuestion {
  readonly method: string;
  readonly params: JsonObject;
}

/** Asks the outermost caller of a call. */
export interface CallerAccess {
  can(what: "elicitation" | "sampling"): boolean;
  /** Rejects with why there is no answer. The deadline does not run while it waits. */
  ask(question: CallerQuestion): Promise<Readonly<Record<string, unknown>>>;
}

/** What a runtime gets with a call. */
export interface RuntimeContext extends ToolContext {
  /** @default the input names no files, and files that the tool writes are not listed */
  readonly files?: CallFiles;
  /** For tools of other MCP servers, which may ask something back. @default the caller cannot be asked */
  readonly caller?: CallerAccess | undefined;
  /** Runs the agent that the called tool is; only for code of that kind. @default nothing here can run agents */
  readonly runAgent?: ((input: unknown) => Promise<unknown>) | undefined;
  /** Where in a trace the tool runs, for processes that the runtime starts; empty without telemetry. */
  readonly trace: TraceContext;
  /** Hands on a piece of the output while the tool runs. */
  chunk(chunk: JsonValue): void;
  /** Takes a function that says what the tool has said and done, for when its time is over. It must not throw, and say little. */
  onTimeout(describe: () => UntilThen): void;
}
