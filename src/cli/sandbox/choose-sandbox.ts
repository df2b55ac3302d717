import { sandboxNames, type SandboxName } from "../../sandbox/sandbox.ts";
import type { Command } from "commander";
import type { Invocation } from "../cli-command.ts";
import { addOption, getText } from "../options.ts";
import { usageError } from "../usage-error.ts";

/** Adds `--sandbox` to a command that runs tools. */
export function addSandboxOption(command: Command): void {
  addOption(command, "--sandbox <name>", `where scripts run: ${sandboxNames.join(", ")}; the best there is by default`);
}

/** What tells which sandbox a person wants. */
export type SandboxWishes = Pick<Invocation, "options" | "env" | "terminal">;

/**
 * The sandbox that the person names, by flag or environment; none to take the best of this machine. To run without one is shown.
 *
 * @throws {KitbagError} `usage-invalid` for a name that is none.
 */
export function chooseSandbox({ options, env, terminal }: SandboxWishes): SandboxName | undefined {
  const given = getText(options, "sandbox") ?? env["KITBAG_SANDBOX"];
  if (given === undefined || given === "") return undefined;
  const name = sandboxNames.find((candidate) => candidate === given);
  if (name === undefined) throw usageError(`Cannot use the sandbox ${given}: there are ${sandboxNames.join(", ")}`);
  if (name === "off") {
    terminal.note(`${terminal.style("red", "No sandbox:")} what runs can read and change all that you can\n`);
  }
  return name;
}
