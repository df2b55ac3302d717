import { homedir } from "node:os";
import { join } from "node:path";

import type { Command } from "commander";

import type { ImportOptions } from "../../forge/import/import-skills.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Invocation } from "../cli-command.ts";
import { addListOption, addOption, getText, getTexts } from "../options.ts";
import { findProject } from "../store/find-project.ts";
import { usageError } from "../usage-error.ts";

/** Adds what `add` and `update` have in common. */
export function addImportOptions(command: Command): void {
  command.option("--yes", "enable what is shown without asking; for scripts");
  command.option("--disabled", "import it, but let it run nothing until it is trusted");
  addListOption(
    command,
    "--allow-host <host>",
    "fetch from this host though it is private or not encrypted; may be given again",
  );
  addOption(command, "--registry <url>", "the registry of npm packages; that of your .npmrc unless set");
}

/** Where a command imports to, and where it may fetch from. */
export function toImportOptions(
  invocation: Invocation,
): Pick<ImportOptions, "directory" | "home" | "allowHosts" | "registry"> {
  const { options, env } = invocation;
  const registry =
    getText(options, "registry") ?? env["npm_config_registry"] ?? env["NPM_CONFIG_REGISTRY"] ?? findRegistry();
  return {
    ...toProject(invocation),
    allowHosts: getTexts(options, "allowHost"),
    ...(registry !== undefined && registry !== "" && { registry }),
  };
}

/** The project that a command works in. */
export function toProject({ cwd, env }: Pick<Invocation, "cwd" | "env">): {
  readonly directory: string;
  readonly home: string;
} {
  if (cwd === homedir()) throw usageError("Cannot change the skills of your home directory: go to a project first");
  return { directory: findProject(cwd).root ?? cwd, home: resolveKitbagHome(env) };
}

/** Only the person's own settings count: those of a project could lead anywhere. */
function findRegistry(): string | undefined {
  const reading = readRegularFile(join(homedir(), ".npmrc"), { maxBytes: 1024 * 1024 });
  if (!reading.ok) return undefined;
  return /^\s*registry\s*=\s*"?([^"\s]+)"?\s*$/mu.exec(new TextDecoder().decode(reading.bytes))?.[1];
}
