import { getText } from "../options.ts";
import { usageError } from "../usage-error.ts";
import type { Invocation } from "../cli-command.ts";

/** How much is logged: each says what those behind it say, and more. */
export const logLevels = ["debug", "info", "warn", "error", "off"] as const;

/** How important a line is, or how important a line must be. */
export type LogLevel = (typeof logLevels)[number];

/**
 * How much the person wants to read, by `--log` or `KITBAG_LOG`; nothing unless said.
 *
 * @throws {KitbagError} `usage-invalid` for a level that there is not.
 */
export function readLogLevel({ options, env }: Pick<Invocation, "options" | "env">): LogLevel {
  const flag = getText(options, "log");
  const text = flag ?? (env["KITBAG_LOG"] || "off");
  const level = logLevels.find((candidate) => candidate === text);
  if (level !== undefined) return level;
  const source = flag === undefined ? "KITBAG_LOG" : "--log";
  throw usageError(`Cannot use ${source} ${JSON.stringify(text)}: expected ${logLevels.join(", ")}`);
}
