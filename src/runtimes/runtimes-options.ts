import type { Limits, SandboxName } from "../sandbox/sandbox.ts";
import type { OnConnection } from "./connection-log.ts";
import type { DependencyProgress } from "../packages/install/dependency-request.ts";
import type { PackageOptions } from "../packages/install/package-options.ts";
import type { LearnReport } from "./learn/learn-report.ts";
import type { DebugOptions } from "./debug/debug-launcher.ts";
import type { McpEvent } from "./mcp/server-pool.ts";
import type { FindSecret } from "./script/load-secrets.ts";

/** How scripts and WASM modules run. */
export interface RuntimesOptions extends PackageOptions {
  /** Which sandbox; `off` runs tools without a sandbox. @default the best that works on this machine */
  readonly sandbox?: SandboxName;
  /** What `./` in permissions is. @default the working directory */
  readonly directory?: string;
  /** Files and directories that no tool may change, whatever was granted; beside those that are shielded anyway. @default none */
  readonly fixed?: readonly string[];
  /** Files that no tool may see, whatever was granted: those of a store, and of tokens. @default none */
  readonly hidden?: readonly string[];
  /** Where packages and caches are kept. @default `~/.kitbag` */
  readonly home?: string;
  /** Values for the names in a tool's permission `env`. @default none */
  readonly findSecret?: FindSecret;
  /** Whether interpreters are kept ready for the next call. @default true */
  readonly warm?: boolean;
  /** What a tool may use of the machine, where it shall differ from the usual. */
  readonly limits?: Partial<Limits>;
  /** Told when a connection of a tool ended or was refused. Those that came about are also in the log of the call. */
  readonly onConnection?: OnConnection;
  /** Told what a script tried to use. With it, scripts run with nothing granted, so that the report shows what they need. */
  readonly onLearned?: (report: LearnReport) => void;
  /** Which scripts are debugged, and by whom. Give their calls a long `limitMs`: the time goes on while they are stopped. @default none */
  readonly debug?: DebugOptions;
  /** Told what happens at other MCP servers. */
  readonly onMcp?: (event: McpEvent) => void;
  /** Told what is being installed. */
  readonly onInstall?: (progress: DependencyProgress) => void;
}
