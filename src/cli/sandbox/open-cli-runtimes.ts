import { openRuntimes, type Runtimes } from "../../runtimes/open-runtimes.ts";
import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { toPrintableLine } from "../printable.ts";
import type { Invocation } from "../cli-command.ts";
import { chooseSandbox } from "./choose-sandbox.ts";
import { createSecretFinder } from "./find-secret.ts";

/** The runtimes of one command: for a single call nothing is kept warm. */
export function openCliRuntimes(
  invocation: Invocation,
  more: Pick<RuntimesOptions, "debug" | "onLearned"> = {},
): Runtimes {
  const { cwd, env, terminal } = invocation;
  const home = resolveKitbagHome(env);
  const sandbox = chooseSandbox(invocation);
  return openRuntimes({
    directory: cwd,
    home,
    warm: false,
    findSecret: createSecretFinder(env, home),
    onInstall: ({ step, package: name }) => {
      terminal.showStatus(step === "ready" ? "" : `Packages: ${step}${name === undefined ? "" : ` ${name}`}`);
    },
    onConnection: ({ host, port, allowed, reason }) => {
      if (!allowed) terminal.note(toPrintableLine(`Refused a connection to ${host}:${port}: ${reason}`) + "\n");
    },
    ...(sandbox !== undefined && { sandbox }),
    ...more,
  });
}
