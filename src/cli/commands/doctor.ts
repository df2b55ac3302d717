import type { CliCommand } from "../cli-command.ts";
import { runChecks } from "../doctor-checks.ts";
import { renderTable } from "../render-table.ts";

const marks = { ok: "✓", note: "·", wrong: "✗" } as const;

/** `kitbag doctor`: what works here and what does not. */
export const doctorCommand: CliCommand = {
  examples: [
    ["kitbag doctor", "is this machine fit, is this project's configuration trusted?"],
    ["kitbag doctor --json", "for programs; exit code 1 if something is wrong"],
  ],
  define() {},
  async run(invocation) {
    const checks = runChecks(invocation);
    const isHealthy = checks.every(({ status }) => status !== "wrong");
    const rows = checks.map(({ name, status, found, cure = "" }) => [
      marks[status],
      name,
      [found, cure].filter(Boolean).join("; "),
    ]);
    const text = renderTable(["", "CHECK", "FOUND"], rows, invocation.terminal);
    return { document: { healthy: isHealthy, checks }, text, exitCode: isHealthy ? 0 : 1 };
  },
};
