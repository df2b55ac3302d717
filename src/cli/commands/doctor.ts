import { addSandboxOption } from "../options.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { addModelOption, chooseModel, nameModel } from "../agent/agent-options.ts";
import { runChecks } from "../doctor/check-project.ts";
import { examineMachine, marks, renderMachine } from "../doctor/examine-machine.ts";
import { renderTable } from "../render.ts";
import { chooseSandbox } from "../sandbox/open-cli-runtimes.ts";

/** `kitbag doctor`: what works here and what does not. */
export const doctorCommand: CliCommand = {
  examples: [
    ["kitbag doctor", "is this machine fit, which sandbox is used, is this project's configuration trusted?"],
    ["kitbag doctor --sandbox unshare", "what would be enforced with another sandbox"],
    ["kitbag doctor --models", "which models can be asked: two tiny questions to each provider that has a key"],
    ["kitbag doctor --json", "for programs; exit code 1 if something is wrong"],
  ],
  define(command) {
    command.option(
      "--models",
      "look at the models instead: ask each provider that has a key, and each server of your own, two tiny questions",
    );
    addModelOption(command);
    addSandboxOption(command);
  },
  async run(invocation) {
    if (invocation.options["models"] === true) return examineModels(invocation);
    const { terminal, cwd } = invocation;
    const sandbox = chooseSandbox(invocation);
    const checks = await runChecks(invocation);
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

async function examineModels(invocation: Invocation): Promise<Answer> {
  const { terminal, env } = invocation;
  const [{ checkModels, renderModels }, { examineServers, renderServers }, { readGpus }, { loadTrustedOptions }] =
    await Promise.all([
      import("../doctor/check-models.ts"),
      import("../doctor/examine-servers.ts"),
      import("../../sandbox/read-gpus.ts"),
      import("../config/open-workspace.ts"),
    ]);
  const { model, store } = await loadTrustedOptions(invocation);
  await store?.close();
  const chosen = chooseModel(invocation, model);
  const before = await examineServers(env);
  const models = await checkModels({ env, chosen, servers: before, onProgress: (what) => terminal.showStatus(what) });
  // A model that was asked is loaded now: only then does its server say where it is.
  const [servers, gpus] = await Promise.all([examineServers(env), readGpus()]);
  const isHealthy = models.every(({ status }) => status !== "failed");
  const document = { healthy: isHealthy, chosen: nameModel(chosen), models, servers, gpus };
  const usual = `${nameModel(chosen)} answers unless you say otherwise: --model, KITBAG_MODEL, or model in kitbag.config.ts`;
  const text = [renderModels(models, terminal), renderServers(servers, gpus, terminal), usual].join("\n\n");
  return { document, text, exitCode: isHealthy ? 0 : 1 };
}
