import { findSandbox } from "../../sandbox/find-sandbox.ts";
import { sandboxNames, type Sandbox } from "../../sandbox/sandbox.ts";
import type { Invocation } from "../cli-command.ts";
import { getText } from "../options.ts";
import { usageError } from "../usage-error.ts";

/**
 * The sandbox for compilers: the one that the person names, else the best of this machine.
 *
 * @throws {KitbagError} `usage-invalid` for a name that is none; `sandbox-missing` if none works here.
 */
export function openBuildSandbox({ options, env, terminal }: Invocation): Promise<Sandbox> {
  const given = getText(options, "sandbox") ?? env["KITBAG_SANDBOX"];
  if (given === undefined) return findSandbox();
  const name = sandboxNames.find((candidate) => candidate === given);
  if (name === undefined) throw usageError(`Cannot use the sandbox ${given}: there are ${sandboxNames.join(", ")}`);
  if (name === "off") terminal.note("Without a sandbox: the compiler can read and change all that you can\n");
  return findSandbox({ name });
}
