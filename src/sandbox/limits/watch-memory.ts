import { readFileSync } from "node:fs";

const everyMs = 100;

/**
 * Looks after the memory of a process and all it started, where the kernel does not: calls `onExceeded` once when they have more than
 * `limitBytes` of their own. Answers with a function that ends it.
 */
export function watchMemory(pid: number, limitBytes: number, onExceeded: () => void): () => void {
  const timer = setInterval(() => {
    if (measureTree(pid) <= limitBytes) return;
    clearInterval(timer);
    onExceeded();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Bytes that a process and all it started have of their own, as far as the kernel tells. */
export function measureTree(pid: number): number {
  const status = read(`/proc/${pid}/status`);
  const own = ["RssAnon", "RssShmem"].map((name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "mu").exec(status)?.[1] ?? 0),
  );
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return (
    own.reduce((sum, kilobytes) => sum + kilobytes * 1024, 0) +
    children.reduce((sum, child) => sum + measureTree(child), 0)
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It ended in the meantime.
    return "";
  }
}
