import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";
import { describeFileError, writeFileAtomically } from "../../platform/files.ts";
import { isInside } from "../../platform/paths.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { freezeManifest } from "../../skills/scripts/manifest/freeze-manifest.ts";
import { manifestPath } from "../../skills/scripts/manifest/parse-manifest.ts";
import { type CliCommand, usageError } from "../cli-command.ts";
import { addSkillsOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { toShownPath } from "../render.ts";
import { findSkillReport } from "../skills/load-reports.ts";

/** `kitbag freeze`: what was read from scripts becomes a manifest that an author can edit. */
export const freezeCommand: CliCommand = {
  examples: [
    ["kitbag freeze skills/pdf-text", "write skills/pdf-text/scripts/manifest.yml"],
    ["kitbag freeze pdf-text --force", "by its name; replace the manifest that is there, keeping what it says"],
  ],
  define(command) {
    command.argument("<skill>", "a skill's folder, or its name");
    command.option("--force", "replace the manifest if there is one");
    addSkillsOption(command);
  },
  async run(invocation) {
    const { args, options, cwd } = invocation;
    const report = await findSkillReport(args[0] ?? "", invocation, "freeze");
    const tools = report.scripts.flatMap((script) => script.tools);
    if (tools.length === 0) throw usageError(`Cannot freeze ${quote(report.name)}: none of its scripts is a tool`);
    const path = join(report.directory, manifestPath);
    writeManifest(path, freezeManifest(report.scripts), { report, force: options["force"] === true });
    const shown = toShownPath(path, cwd);
    const document = { skill: report.name, path: shown, tools: tools.map((tool) => `${report.name}/${tool.name}`) };
    return { document, text: toPrintable(renderWritten(report, shown, document.tools)) };
  },
};

interface WriteOptions {
  readonly report: SkillReport;
  readonly force: boolean;
}

function writeManifest(path: string, text: string, { report, force }: WriteOptions): void {
  if (!force && existsSync(path)) {
    throw usageError(`Cannot write ${path}: it is already there; --force replaces it, and keeps what it says`);
  }
  try {
    // The folder may come from elsewhere: a link in it must not lead out of it.
    if (!isInside(realpathSync(dirname(path)), report.directory))
      throw usageError(`Cannot write ${path}: it is outside`);
    writeFileAtomically(path, text, { mode: 0o644 });
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw usageError(`Cannot write ${path}: ${describeFileError(cause)}`);
  }
}

function renderWritten({ directory, skill }: SkillReport, path: string, tools: readonly string[]): string {
  const isProject = skill?.folder?.scope === "project";
  return [
    `Wrote ${path} with:`,
    ...tools.map((address) => `  ${address}`),
    "What stands there now wins over what the scripts say; edit it, then run: kitbag check",
    ...(isProject ? [`The skill has changed, so it must be trusted again: kitbag trust ${directory}`] : []),
  ].join("\n");
}
