import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

import { isInside } from "../../skills/folder/is-inside.ts";
import { toDigests } from "../../skills/trust/folder-trust.ts";
import { loadLock, resolveLockPath } from "../../skills/trust/lock-file.ts";
import { lockSkills } from "../../skills/trust/lock-skills.ts";
import { loadTrust, updateTrust } from "../../skills/trust/trust-file.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { findTrustTarget, type TrustTarget } from "../config/find-trust-target.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { loadAgreed, lookAt, type LookedAt } from "../config/look-at-skills.ts";
import { removeTrust } from "../config/remove-trust.ts";
import { renderLookedAt, renderTrusted } from "../config/render-trust.ts";
import { isYes } from "../config/require-trust.ts";
import { toPrintable } from "../printable.ts";

/** `kitbag trust`: lets a configuration, or skills of a project, run as they are now. */
export const trustCommand: CliCommand = {
  examples: [
    ["kitbag trust .", "the configuration of this folder with the files it imports, and the skills of the project"],
    ["kitbag trust .claude/skills/pdf", "one skill; a folder of skills works too"],
    ["kitbag trust . --remove", "trust it no longer"],
  ],
  define(command) {
    command.argument("<path>", "a kitbag.config file, a skill, or a folder with one of them");
    command.option("--remove", "trust it no longer");
  },
  async run(invocation) {
    const path = resolve(invocation.cwd, invocation.args[0] ?? "");
    const home = resolveKitbagHome(invocation.env);
    if (invocation.options["remove"] === true) return removeTrust(path, home, projectLock(invocation.cwd));
    return addTrust(findTrustTarget(path), home, invocation);
  },
};

async function addTrust(target: TrustTarget, home: string, invocation: Invocation): Promise<Answer> {
  // What is damaged is told before anybody is asked.
  loadTrust(home);
  const looked = await lookAt(target, invocation);
  const lockPath = findLock(looked, projectLock(invocation.cwd));
  if (lockPath !== undefined) loadLock(lockPath);
  if (looked.skills.length > 0 && !(await isConfirmed(looked, invocation))) {
    return { document: { trusted: false, ...toDocument(looked, undefined) }, failure: "Not trusted", exitCode: 1 };
  }
  // Code that never ends to load is not trusted: whoever follows the list would load it, too.
  const trusted = { ...looked, skills: await loadAgreed(looked, invocation) };
  // What the person was shown is what is trusted: if a file has changed meanwhile, it is not.
  await updateTrust(home, ({ configs, folders }) => {
    if (looked.config !== undefined) configs.set(looked.config.path, looked.config.files);
    for (const { folder } of looked.skills) folders.set(folder.directory, toDigests(folder.files));
  });
  if (lockPath !== undefined) await lockSkills(trusted.skills, lockPath, { others: looked.others });
  const text = renderTrusted(trusted, lockPath, invocation);
  return { document: { trusted: true, ...toDocument(trusted, lockPath) }, text: toPrintable(text) };
}

/** The lock of the project somebody works in; the home directory is no project. */
function projectLock(cwd: string): string | undefined {
  return cwd === homedir() ? undefined : resolveLockPath(cwd);
}

/** Only what is in the project is pinned. */
function findLock({ skills }: LookedAt, path: string | undefined): string | undefined {
  const isHere = path !== undefined && skills.some(({ folder }) => isInside(folder.directory, dirname(path)));
  return isHere ? path : undefined;
}

async function isConfirmed(looked: LookedAt, { terminal, cwd }: Invocation): Promise<boolean> {
  if (!terminal.canAsk) return true;
  terminal.note(`${toPrintable(renderLookedAt(looked, cwd, terminal))}\n`);
  return isYes(await terminal.ask("Trust what is listed here, as it is now? [y/N] "));
}

function toDocument({ config, skills, skipped }: LookedAt, lock: string | undefined): Record<string, unknown> {
  return {
    ...(config !== undefined && {
      config: config.path,
      files: [...config.files].map(([path, digest]) => ({ path, digest })),
    }),
    ...(skills.length + skipped.length > 0 && {
      skills: skills.map(({ report, skill, folder, diagnostics }) => ({
        name: skill.name,
        path: report.path,
        digest: folder.digest,
        permissions: skill.permissions,
        files: folder.files.map(({ path, digest }) => ({ path, digest })),
        diagnostics,
      })),
      skipped: skipped.map(({ path, name, diagnostics }) => ({ name, path, diagnostics })),
    }),
    ...(lock !== undefined && { lock }),
  };
}
