/** Where scripts and WASM modules run: in a sandbox. */
export type { DebuggedCall, DebugOptions } from "./runtimes/debug/debug-launcher.ts";
export type {
  Breakpoint,
  BreakpointRequest,
  DebugEvent,
  DebugSession,
  Evaluation,
  Scope,
  StackFrame,
  StopReason,
  Variable,
} from "./runtimes/debug/debug-session.ts";
export { openRuntimes, type Runtimes } from "./runtimes/open-runtimes.ts";
export type { RuntimesOptions } from "./runtimes/runtimes-options.ts";
