import { homedir } from "node:os";
import { join } from "node:path";

import type { Command } from "commander";

import type { ImportOptions, ImportReport } from "../../forge/import/import-skills.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { addListOption, addOption, getText, getTexts } from "../options.ts";
import { findProject } from "../store/find-project.ts";
import { isYes } from "../terminal.ts";
import { renderReport } from "./render-candidate.ts";
import type { Store } from "../../core/store.ts";
import { isEmptyGrant } from "../../core/skill-grant.ts";
import { toOffer } from "../../skills/load/find-needs.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { createRecords } from "../store/open-records.ts";

/** Adds what `add` and `update` have in common. */
export function addImportOptions(command: Command): void {
  command.option("--yes", "enable and grant what is shown without asking; for scripts");
  command.option("--no-grants", "enable it, and grant it nothing that only its scripts seem to need");
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

/** Who says whether something is enabled: the person who is shown it; `--yes` for a script; with `--disabled` it stays disabled. */
export function approveImport({ terminal, options }: Invocation): Pick<ImportOptions, "approve"> {
  if (options["disabled"] === true) return {};
  return {
    async approve(report: ImportReport) {
      const mayGrant = options["grants"] !== false && report.skills.some(({ needs }) => !isEmptyGrant(toOffer(needs)));
      if (options["yes"] === true) return mayGrant ? "with-grants" : true;
      terminal.note(`${renderReport(report, terminal)}\n\n`);
      if (!terminal.canAsk) return false;
      const names = report.skills.map(({ name }) => name).join(", ");
      if (!mayGrant) return isYes(await terminal.ask(`Enable ${names}, exactly as shown here? [y/N] `));
      const answer = (await terminal.ask(askWithGrants(names))) ?? "";
      if (/^\s*no-grants\s*$/iu.test(answer)) return true;
      return isYes(answer) && "with-grants";
    },
  };
}

function askWithGrants(names: string): string {
  return `Enable ${names}, exactly as shown here, and grant what is listed? [y/N; no-grants enables without] `;
}

/** What to do when nothing was enabled. */
export function whyRefused({ terminal }: Pick<Invocation, "terminal">): string {
  if (terminal.canAsk) return "Not enabled, and nothing was kept.";
  return "Not enabled, and nothing was kept: no person can be asked. Read what is shown, then add --yes; or --disabled to have a look at the files";
}

/** Does `work` with the store that versions are kept in, and closes it; without one if the person wants none. */
export async function withVersions<Result>(
  invocation: Invocation,
  work: (kept: { readonly store?: Store }) => Promise<Result>,
): Promise<Result> {
  const records = createRecords(invocation);
  try {
    const { store } = await records.complete(await loadTrustedOptions(invocation));
    return await work(store === undefined ? {} : { store });
  } finally {
    await records.close();
  }
}
