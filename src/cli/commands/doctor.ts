import type { CliCommand } from "../cli-command.ts";
import { runChecks } from "../doctor-checks.ts";
import { examineMachine } from "../doctor/examine-machine.ts";
import { marks, renderMachine } from "../doctor/render-machine.ts";
import { renderTable } from "../render-table.ts";
import { addSandboxOption, chooseSandbox } from "../sandbox/choose-sandbox.ts";

/** `kitbag doctor`: what works here and what does not. */
export const doctorCommand: CliCommand = {
  examples: [
    ["kitbag doctor", "is this machine fit, which sandbox is used, is this project's configuration trusted?"],
    ["kitbag doctor --sandbox unshare", "what would be enforced with another sandbox"],
    ["kitbag doctor --json", "for programs; exit code 1 if something is wrong"],
  ],
  define(command) {
    addSandboxOption(command);
  },
  async run(invocation) {
    const { terminal, cwd } = invocation;
    const sandbox = chooseSandbox(invocation);
    const checks = runChecks(invocation);
    const onProgress = (what: string): void => terminal.showStatus(what);
    const machine = await examineMachine({ sandbox, directory: cwd, onProgress });
    const isHealthy = checks.every(({ status }) => status !== "wrong") && machine.sandbox.used !== undefined;
    const rows = checks.map(({ name, status, found, cure = "" }) => [
      marks[status],
      name,
      [found, cure].filter(Boolean).join("; "),
    ]);
    const text = [renderTable(["", "CHECK", "FOUND"], rows, terminal), renderMachine(machine, terminal)].join("\n\n");
    return { document: { healthy: isHealthy, checks, ...machine }, text, exitCode: isHealthy ? 0 : 1 };
  },
};
