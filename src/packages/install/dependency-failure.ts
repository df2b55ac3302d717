import { KitbagError } from "../../core/errors.ts";
import type { DependencyRequest } from "./dependency-request.ts";
import type { StepResult } from "./run-step.ts";

/** The kinds of failure there are. */
export type DependencyProblem =
  | "broken"
  | "conflict"
  | "disk"
  | "hash"
  | "index"
  | "installer-missing"
  | "lock"
  | "memory"
  | "no-wheel"
  | "not-found"
  | "offline"
  | "other-host"
  | "timeout"
  | "too-large"
  | "unknown";

/** What went wrong with which package, and what to do. */
export interface DependencyFailure {
  readonly problem: DependencyProblem;
  readonly package?: string | undefined;
  readonly reason: string;
  readonly cure: string;
}

const names = { python: "Python", node: "npm", rust: "Rust" } as const;

/** Makes the error of a failed install. */
export function dependencyFailed(
  language: DependencyRequest["language"],
  { problem, package: name, reason, cure }: DependencyFailure,
): KitbagError<"dependency-failed"> {
  return new KitbagError("dependency-failed", {
    language: names[language],
    problem,
    ...(name !== undefined && { package: name }),
    reason,
    cure,
  });
}

const diskFull: DependencyFailure = {
  problem: "disk",
  reason: "there is no space left on the disk",
  cure: "make room where KITBAG_HOME is, or set it to another place",
};

/** Failures that have nothing to do with which installer it was; undefined if it was none of them. */
export function explainCommon(result: StepResult, maxBytes: number): DependencyFailure | undefined {
  const text = `${result.stderr}\n${result.stdout}`;
  if (result.stopped === "too-large" || /File too large|EFBIG|Errno 27\b/u.test(text)) {
    return {
      problem: "too-large",
      reason: `it needs more than ${maxBytes} bytes`,
      cure: "ask for fewer or smaller packages, or raise installLimits.maxBytes",
    };
  }
  if (/No space left on device|ENOSPC|Errno 28\b|Disk quota exceeded|EDQUOT/u.test(text)) return diskFull;
  const [, what, address] = /the name leads to ([^;\n]*); list the address too \(([^)\s]+)\)/u.exec(text) ?? [];
  if (what !== undefined) {
    const reason = `the name of the package index leads to ${what}`;
    return {
      problem: "other-host",
      reason,
      cure: `if it is your own index, add ${address} to index.hosts (KITBAG_INDEX_HOSTS)`,
    };
  }
  if (result.stopped === "out-of-memory") {
    return {
      problem: "memory",
      reason: "the installer used too much memory",
      cure: "ask for fewer or smaller packages",
    };
  }
  return undefined;
}

/** The index sent us to hosts that we may not reach. */
export function explainRefused(hosts: readonly string[]): DependencyFailure {
  return {
    problem: "other-host",
    reason: `the package index sends us to ${hosts.join(", ")}, which we may not reach`,
    cure: "if this host belongs to the index, add it to index.hosts (KITBAG_INDEX_HOSTS)",
  };
}

/** The failure of a file operation of our own; undefined if it is not one that can be explained. */
export function explainSystem(cause: unknown): DependencyFailure | undefined {
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  return code === "ENOSPC" || code === "EDQUOT" ? diskFull : undefined;
}

/** The last lines that an installer printed, without what may be secret in addresses. */
export function lastWords(text: string): string {
  const lines = text
    .replaceAll(/(\/\/)[^/\s@]+@/gu, "$1")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.slice(-4).join(" | ").slice(-600) || "it printed nothing";
}
