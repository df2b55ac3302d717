import { isKitbagError } from "../../core/errors.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { Guarantee } from "../../sandbox/sandbox.ts";

/** What a program does not see, for each thing that a sandbox can hold it to. */
const unseen: Partial<Record<Guarantee, string>> = {
  files: "your home and every other file of yours",
  environment: "your environment variables",
  processes: "other programs that run",
  network: "the network, this machine included",
};

/** Says in words where scripts run, and what they see there and what not. */
export async function describeSandbox(runtimes: Pick<Runtimes, "findSandbox">): Promise<string> {
  try {
    const { name, enforces } = await runtimes.findSandbox();
    if (name === "off") return "There was no sandbox, because you turned it off: the script could see all that you can";
    const hidden = Object.entries(unseen).filter(([guarantee]) => enforces.has(guarantee as Guarantee));
    return [
      `It ran in the sandbox ${name}.`,
      "  It saw:         its skill's folder and the project, both read-only, basic programs, an empty /tmp",
      ...hidden.map(([, what], index) => `  ${index === 0 ? "It did not see:" : "               "} ${what}`),
    ].join("\n");
  } catch (cause) {
    if (!isKitbagError(cause, "sandbox-missing")) throw cause;
    return "No sandbox works on this machine, so nothing was run: kitbag doctor says what is missing and how to get it";
  }
}
