/** Whether a call of the system failed because this process, or the machine, has as many files open as it may. */
export function isExhausted(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "EMFILE" || cause.code === "ENFILE");
}
