import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { isEmptyGrant, joinGrants } from "../../core/skill-grant.ts";
import type { ForgeAnswer } from "../../forge/forge-interface.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { toDigests } from "../../skills/trust/folder-trust.ts";
import { loadLock, resolveLockPath } from "../../skills/trust/lock-file.ts";
import { lockSkills } from "../../skills/trust/lock-skills.ts";
import { loadTrust, updateTrust } from "../../skills/trust/trust-file.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import {
  findTrustTarget,
  type TrustTarget,
  loadAgreed,
  lookAt,
  type LookedAt,
  toOffered,
} from "../config/find-trust-target.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { removeTrust } from "../config/remove-trust.ts";
import { renderLookedAt, renderTrusted } from "../config/render-trust.ts";
import { isYes } from "../terminal.ts";
import { adoptEdited, findEdited, refuseBroken, type EditedTool } from "../forge/adopt-edited.ts";
import { noteUsers } from "../forge/render-forged.ts";
import { addOption, addSkillsOption, getText, getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";

/** `kitbag trust`: lets a configuration, or skills of a project, run as they are now. */
export const trustCommand: CliCommand = {
  examples: [
    ["kitbag trust .", "the configuration of this folder with the files it imports, and the skills of the project"],
    ["kitbag trust .claude/skills/pdf", "one skill; a folder of skills works too"],
    ["kitbag trust --skills skills", "the skills of a folder, as kitbag call --skills skills finds them"],
    ["kitbag trust --mcp github", "what the MCP server github offers now: its tools may run as they are described"],
    ["kitbag trust --mcp github --yes", "also where no person can be asked and something changed; read it before"],
    ["kitbag trust . --remove", "trust it no longer; with --mcp, no longer use the tools of a server"],
  ],
  define(command) {
    command.argument("[path]", "a kitbag.config file, a skill, or a folder with one of them");
    addSkillsOption(command);
    addOption(command, "--mcp <server>", "one MCP server of this project, by its name; of a skill as skill/server");
    command.option("--yes", "trust and grant what is shown without asking, also what a server changed; for scripts");
    command.option("--no-grants", "trust it, and grant it nothing besides what its own files ask for");
    command.option("--remove", "trust it no longer");
  },
  async run(invocation) {
    const [named] = invocation.args;
    const server = getText(invocation.options, "mcp");
    const folders = getTexts(invocation.options, "skills").map((path) => resolve(invocation.cwd, path));
    const isNamed = named !== undefined || (folders.length > 0 && server === undefined);
    if (isNamed === (server !== undefined)) {
      throw usageError("Cannot tell what to trust: name a path, such as . for this project, or a server with --mcp");
    }
    if (server !== undefined) {
      const { findSources, forgetServer, pickSource, trustServers } = await import("../mcp/trust-servers.ts");
      if (invocation.options["remove"] === true) return forgetServer(server, invocation);
      return trustServers([pickSource(await findSources(invocation, { runsConfig: true }), server)], invocation);
    }
    const paths = named === undefined ? [] : [resolve(invocation.cwd, named)];
    const home = resolveKitbagHome(invocation.env);
    if (invocation.options["remove"] === true) {
      return removeTrust([...paths, ...folders], home, projectLock(invocation.cwd));
    }
    const target = toTarget(paths[0], folders, home);
    return addServers(target, await addTrust(target, home, invocation), invocation);
  },
};

/** What the path means, with the skills of the folders. */
function toTarget(path: string | undefined, folders: readonly string[], home: string): TrustTarget {
  if (path === undefined) return { path: folders.join(", "), directories: folders };
  const target = findTrustTarget(path, loadTrust(home));
  return { ...target, directories: [...target.directories, ...folders] };
}

/**
 * What was trusted may name MCP servers: what they offer is looked at, too. One that cannot be reached takes nothing back. A
 * configuration that is a program is not run for that: its servers are new until a person names them.
 */
async function addServers(target: TrustTarget, answer: Answer, invocation: Invocation): Promise<Answer> {
  const isData = target.config?.endsWith(".json") === true;
  if (answer.exitCode !== undefined || (!isData && target.directories.length === 0)) return answer;
  const { findSources, trustServers } = await import("../mcp/trust-servers.ts");
  const isMeant = ({ skill, folder }: Brought): boolean =>
    skill === undefined || isBelow(folder?.directory, target.directories);
  const sources = (await findSources(invocation, { runsConfig: isData })).filter(isMeant);
  if (sources.length === 0) return answer;
  try {
    const servers = await trustServers(sources, invocation);
    return {
      ...answer,
      document: { ...(answer.document as object), mcp: servers.document },
      text: [answer.text, servers.text].filter((text) => text !== undefined).join("\n"),
      ...(servers.failure !== undefined && { failure: servers.failure, exitCode: 1 as const }),
    };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return { ...answer, failure: cause.message, exitCode: 1 };
  }
}

interface Brought {
  readonly skill?: string;
  readonly folder?: { readonly directory: string };
}

function isBelow(directory: string | undefined, folders: readonly string[]): boolean {
  return directory !== undefined && folders.some((folder) => isInside(directory, toRealPath(folder)));
}

async function addTrust(target: TrustTarget, home: string, invocation: Invocation): Promise<Answer> {
  // Damage is reported before the question.
  loadTrust(home);
  await refuseBroken(target.path, invocation);
  const looked = await lookAt(target, invocation);
  const lockPath = findLock(looked, projectLock(invocation.cwd));
  if (lockPath !== undefined) loadLock(lockPath);
  const answered = looked.skills.length > 0 ? await askToTrust(looked, invocation) : "without-grants";
  if (answered === "no") {
    return { document: { trusted: false, ...toDocument(looked, undefined) }, failure: "Not trusted", exitCode: 1 };
  }
  // A made tool that was edited by hand is tested first, as every other edit of it.
  const edited = await findEdited(looked.skills, invocation);
  const whole = { ...looked, skills: looked.skills.filter((one) => !edited.some((tool) => tool.looked === one)) };
  const answer = await trustWhole(whole, { home, takesGrants: answered === "with-grants" }, invocation);
  return edited.length === 0 ? answer : adoptAll(edited, { ...looked, answer }, invocation);
}

/** Trusts what was looked at, exactly as it was then, and pins it in the lock of the project. It is granted what it was granted before. */
export async function trustLooked(looked: LookedAt, invocation: Invocation): Promise<Answer> {
  return trustWhole(looked, { home: resolveKitbagHome(invocation.env), takesGrants: false }, invocation);
}

interface Agreed {
  readonly home: string;
  /** Whether what is shown as seen and proposed is granted, too. */
  readonly takesGrants: boolean;
}

async function trustWhole(looked: LookedAt, { home, takesGrants }: Agreed, invocation: Invocation): Promise<Answer> {
  const lockPath = findLock(looked, projectLock(invocation.cwd));
  // Code that never finishes loading is not trusted: other commands would load it, too.
  const trusted = { ...looked, skills: await loadAgreed(looked, invocation) };
  const grants = new Map(
    trusted.skills.map((one) => [
      one.folder.directory,
      takesGrants ? joinGrants([one.kept, toOffered(one)]) : one.kept,
    ]),
  );
  // What the person was shown is what is trusted: if a file has changed meanwhile, it is not.
  await updateTrust(home, (list) => {
    if (looked.config !== undefined) list.configs.set(looked.config.path, looked.config.files);
    for (const { folder } of looked.skills) {
      list.folders.set(folder.directory, toDigests(folder.files));
      list.grants.set(folder.directory, grants.get(folder.directory) ?? {});
    }
  });
  if (lockPath !== undefined) await lockSkills(trusted.skills, lockPath, { others: looked.others, grants });
  const text = renderTrusted(trusted, grants, { lock: lockPath, context: invocation });
  return { document: { trusted: true, ...toDocument(trusted, lockPath) }, text: toPrintable(text) };
}

/** Makes versions of what was written by hand. One that does not pass does not run, and takes nothing else back. */
async function adoptAll(
  edited: readonly EditedTool[],
  { answer, ...looked }: LookedAt & { readonly answer: Answer },
  invocation: Invocation,
): Promise<Answer> {
  const answers: ForgeAnswer[] = [];
  for (const tool of edited) answers.push(await adoptEdited(tool, looked.others, invocation));
  const texts = answers.map((one) =>
    one.status === "live"
      ? `${one.name} is live, at ${one.version}: what was written by hand is this version now, and its examples pass.${noteUsers(one)}`
      : `${one.name} is not trusted: what was written by hand does not pass.`,
  );
  const hasOthers = looked.config !== undefined || looked.skills.length > edited.length;
  const text = toPrintable([...(hasOthers ? [answer.text] : []), ...texts].join("\n"));
  const refused = answers.flatMap((one) => (one.status === "refused" ? [one.error] : []));
  const tools = answers.map(({ name, status, ...more }) => ({
    name,
    status,
    ...("version" in more && { version: more.version, usedBy: more.usedBy }),
    ...("error" in more && { error: more.error }),
  }));
  const document = { ...toDocument(looked, undefined), ...(answer.document as object), tools };
  if (refused.length === 0) return { document, text };
  const failure = toPrintable(refused.map(({ message }) => message).join("\n"));
  return { document: { ...document, trusted: false }, text, failure, exitCode: 1 };
}

/** The lock of the current project; the home directory is not a project. */
function projectLock(cwd: string): string | undefined {
  return cwd === homedir() ? undefined : resolveLockPath(cwd);
}

/** Only what is in the project is pinned. */
function findLock({ skills }: LookedAt, path: string | undefined): string | undefined {
  const isHere = path !== undefined && skills.some(({ folder }) => isInside(folder.directory, dirname(path)));
  return isHere ? path : undefined;
}

/** Without a person who sees it, or `--yes`, nothing more is granted than before. */
async function askToTrust(
  looked: LookedAt,
  { terminal, cwd, options }: Invocation,
): Promise<"no" | "with-grants" | "without-grants"> {
  const mayGrant = options["grants"] !== false;
  if (options["yes"] === true) return mayGrant ? "with-grants" : "without-grants";
  if (!terminal.canAsk) return "without-grants";
  terminal.note(`${renderLookedAt(looked, cwd, terminal)}\n`);
  const offers = mayGrant && looked.skills.some((one) => !isEmptyGrant(toOffered(one)));
  const question = offers
    ? "Trust what is listed here, as it is now, and grant it? [y/N; no-grants trusts it without] "
    : "Trust what is listed here, as it is now? [y/N] ";
  const answer = (await terminal.ask(question)) ?? "";
  if (/^\s*no-grants\s*$/iu.test(answer)) return "without-grants";
  if (!isYes(answer)) return "no";
  return mayGrant ? "with-grants" : "without-grants";
}

function toDocument({ config, skills, skipped }: LookedAt, lock: string | undefined): Record<string, unknown> {
  return {
    ...(config !== undefined && {
      config: config.path,
      files: [...config.files].map(([path, digest]) => ({ path, digest })),
    }),
    ...(skills.length + skipped.length > 0 && {
      skills: skills.map(({ report, skill, folder, diagnostics, needs }) => ({
        name: skill.name,
        path: report.path,
        digest: folder.digest,
        permissions: skill.permissions,
        needs,
        files: folder.files.map(({ path, digest }) => ({ path, digest })),
        diagnostics,
      })),
      skipped: skipped.map(({ path, name, diagnostics }) => ({ name, path, diagnostics })),
    }),
    ...(lock !== undefined && { lock }),
  };
}
