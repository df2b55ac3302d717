import type { UntilThen } from "../../../core/errors.ts";

/** What a script said. */
export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  /** Takes secrets out of whatever is shown. */
  readonly show: <Value>(value: Value) => Value;
}

const longestStderr = 2000;
const mostLines = 20;
const longestStdout = 6000;

/** The end of what a script that was stopped had said until then. */
export function toUntilThen(said: Said): UntilThen {
  const [stdout, stderr] = [lastOutput(said), lastErrors(said)];
  return { ...(stdout !== "" && { stdout }), ...(stderr !== "" && { stderr }) };
}

/** The last part of stdout. */
export function lastOutput({ stdout, show }: Said): string {
  return lastPart(show(stdout), longestStdout);
}

/** The last lines of stderr. */
export function lastErrors({ stderr, show }: Said): string {
  return lastPart(show(stderr).trimEnd().split("\n").slice(-mostLines).join("\n"), longestStderr);
}

function lastPart(text: string, most: number): string {
  return text.length > most ? `…${text.slice(-most)}` : text;
}
