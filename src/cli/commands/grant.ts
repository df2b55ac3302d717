import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

import type { Command } from "commander";

import { KitbagError } from "../../core/errors.ts";
import type { SkillFolder } from "../../core/skill.ts";
import {
  describeGrant,
  isEmptyGrant,
  joinGrants,
  toGrant,
  toPermissions,
  withoutGrant,
  type SkillGrant,
} from "../../core/skill-grant.ts";
import { parsePackageList } from "../../packages/install/node/parse-packages.ts";
import { parseRequirementList } from "../../packages/install/python/parse-requirement.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { parseNetworkRule } from "../../sandbox/egress/network-rule.ts";
import { toGrants } from "../../sandbox/grants.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { resolveLockPath } from "../../skills/trust/lock-file.ts";
import { addGrant, readGrant, takeGrant, type GrantPlace } from "../../skills/trust/set-grant.ts";
import { type Answer, type CliCommand, type Invocation, suggest, usageError } from "../cli-command.ts";
import { addListOption, addSkillsOption, getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderFacts, type Fact } from "../render.ts";
import { listPermissions, renderOpened } from "../render-tool.ts";
import { loadReports } from "../skills/load-reports.ts";

/** `kitbag grant`: what a skill may touch besides what its own files ask for. */
export const grantCommand: CliCommand = {
  examples: [
    ["kitbag grant pdf --read . --write ./out", "folders of this project; never of the skill"],
    ["kitbag grant weather --network api.example.com --env WEATHER_KEY", "a host and an environment variable"],
    ["kitbag grant pdf --package pypdf --run qpdf", "a package of Python, installed outside the skill; a program"],
    ["kitbag grant chart --package npm:d3@^7", "a package of npm"],
    ["kitbag grant pdf", "what is granted to it now"],
  ],
  define(command) {
    defineScopes(command, "grant");
  },
  async run(invocation) {
    return grantTo(invocation.args[0] ?? "", readScopes(invocation), invocation);
  },
};

/**
 * Grants something to the skill that a person named, by its name or its folder. Without anything to grant it says what is granted.
 *
 * @throws {KitbagError} `usage-invalid` if there is no such skill; `skill-untrusted`; whatever a call would refuse.
 */
export async function grantTo(named: string, asked: SkillGrant, invocation: Invocation): Promise<Answer> {
  const found = await findSkill(named, invocation);
  const { own } = readGrant(found);
  if (isEmptyGrant(asked)) return answer(found, own, invocation);
  refuseUntrusted(found);
  checkGrant(found, asked, invocation);
  const granted = await addGrant(found, asked, [found.report, found.others]);
  return answer(found, granted, invocation, [
    `Granted to ${found.report.name}: ${describeGrant(asked)}`,
    ...renderOpened(toPermissions(asked), invocation.terminal, invocation.cwd),
    "It holds for exactly the files that the skill has now, and stays when kitbag update replaces them.",
  ]);
}

/** `kitbag revoke`: takes back what was granted to a skill. */
export const revokeCommand: CliCommand = {
  examples: [
    ["kitbag revoke pdf --network api.example.com", "one thing that was granted"],
    [
      "kitbag revoke pdf",
      "everything that was granted with kitbag grant, add or trust; not what its own files ask for",
    ],
  ],
  define(command) {
    defineScopes(command, "revoke");
  },
  async run(invocation) {
    const asked = readScopes(invocation);
    const found = await findSkill(invocation.args[0] ?? "", invocation);
    const { own, proposed } = readGrant(found);
    const before = joinGrants([own, proposed]);
    const missing = withoutGrant(asked, before);
    const { name } = found.report;
    if (!isEmptyGrant(missing)) {
      const known = isEmptyGrant(before)
        ? "nothing is granted to it from outside"
        : `granted is ${describeGrant(before)}`;
      const cure = "what its own files ask for goes only with kitbag trust --remove";
      throw usageError(`Cannot revoke ${describeGrant(missing)} of ${name}: ${known}; ${cure}`);
    }
    const taken = isEmptyGrant(asked) ? before : asked;
    if (isEmptyGrant(taken)) return answer(found, own, invocation);
    const granted = await takeGrant(found, taken);
    return answer(found, granted, invocation, [`Revoked of ${name}: ${describeGrant(taken)}`]);
  },
};

/** Says what is granted now, besides what the skill's own files ask for. */
function answer(
  { report }: FoundSkill,
  granted: SkillGrant,
  { terminal }: Invocation,
  lines: readonly string[] = [],
): Answer {
  const { skill, name } = report;
  const own = listPermissions(skill?.declared ?? skill?.permissions ?? {}) || "nothing";
  const facts: Fact[] = [
    ["granted", describeGrant(granted) || "nothing"],
    ["declared", own],
  ];
  const text = [...lines.map(toPrintable), renderFacts(facts), ...renderOpened(toPermissions(granted), terminal)];
  return {
    document: { skill: name, granted, declared: skill?.declared ?? skill?.permissions ?? {} },
    text: text.join("\n"),
  };
}

function defineScopes(command: Command, verb: "grant" | "revoke"): void {
  command.argument("<skill>", "its name, or its folder");
  const option = (flags: string, what: string): void =>
    addListOption(command, flags, `${verb} ${what}; may be given again`);
  option("--read <path>", "reading a file or folder, relative to the working directory");
  option("--write <path>", "writing a file or folder");
  option("--network <host>", "a host: api.example.com, api.example.com:8443, *.example.com");
  option("--env <name>", "an environment variable");
  option("--run <program>", "starting a program of this machine");
  option("--package <name>", "a package of Python (pypdf>=4) or of npm (npm:d3@^7)");
  addSkillsOption(command);
}

function readScopes({ options, cwd }: Invocation): SkillGrant {
  const paths = (name: string): string[] => getTexts(options, name).map((path) => toScope(path, cwd));
  return toGrant((kind) => {
    if (kind === "read" || kind === "write") return paths(kind);
    return getTexts(options, kind === "packages" ? "package" : kind);
  });
}

/** A path as permissions write it, so that it means the same for others who use the project: `./data`, `~/notes`. */
export function toScope(path: string, cwd: string, home: string = homedir()): string {
  if (path === "") throw usageError("Cannot use an empty path: name a file or folder, such as . or ./data");
  if (path === "~" || path.startsWith("~/")) return path;
  const target = resolve(cwd, path);
  const end = path.endsWith("/") ? "/" : "";
  if (isInside(target, cwd)) return target === cwd ? "." : `./${relative(cwd, target)}${end}`;
  if (!isAbsolute(path)) return `${relative(cwd, target)}${end}`;
  return isInside(target, home) && target !== home ? `~/${relative(home, target)}${end}` : `${target}${end}`;
}

interface FoundSkill extends GrantPlace {
  readonly folder: SkillFolder;
  readonly report: SkillReport;
  readonly others: readonly SkillReport[];
}

/** The skill that the person named, by its name or its folder. */
async function findSkill(named: string, invocation: Invocation): Promise<FoundSkill> {
  const { options, cwd, env } = invocation;
  const directories = getTexts(options, "skills");
  const isPath = /[/\\]/u.test(named) || named === ".";
  const reports = await loadReports(invocation, isPath ? [...directories, named] : directories);
  const place = isPath ? toRealPath(resolve(cwd, named)) : undefined;
  const report = reports.find(({ name, directory, skill }) =>
    place === undefined ? skill !== undefined && name === named : directory === place,
  );
  const folder = report?.skill?.folder;
  if (report === undefined || folder === undefined) throw refuseUnknown(named, reports);
  const lockPath = cwd === homedir() ? undefined : resolveLockPath(cwd);
  return { report, folder, others: reports, home: resolveKitbagHome(env), lockPath };
}

function refuseUnknown(named: string, reports: readonly SkillReport[]): KitbagError {
  const known = reports.filter(({ skill }) => skill?.folder !== undefined).map(({ name }) => name);
  const cure = known.length === 0 ? "no skill is found here; name its folder with --skills" : suggest(named, known);
  return new KitbagError("name-not-found", { what: "skill", name: named, cure });
}

/** A grant is for files that the person trusts: others would get it without a question. */
function refuseUntrusted({ report: { name }, folder }: FoundSkill): void {
  if (folder.trust.status === "trusted") return;
  const { directory, trust } = folder;
  throw new KitbagError("skill-untrusted", {
    skill: name,
    directory,
    changed: trust.changed,
    ...(trust.removed && { removed: true }),
  });
}

/** Refuses now what each call would refuse. */
function checkGrant({ report: { name }, home }: FoundSkill, asked: SkillGrant, { cwd }: Invocation): void {
  const { network = [], env = [], packages = [] } = asked;
  toGrants(name, toPermissions(asked), { directory: cwd, protected: [home] });
  for (const rule of network) parseNetworkRule(rule);
  const wrong = env.find((one) => !/^[A-Za-z_]\w*$/u.test(one));
  if (wrong !== undefined)
    throw usageError(`Cannot grant --env ${wrong}: it is not the name of an environment variable`);
  parseRequirementList(
    packages.filter((one) => !one.startsWith("npm:")),
    "--package",
  );
  parsePackageList(
    packages.flatMap((one) => (one.startsWith("npm:") ? [one.slice(4)] : [])),
    "--package",
  );
}
