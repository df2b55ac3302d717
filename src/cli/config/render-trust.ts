import { joinPermissions } from "../../core/permissions.ts";
import type { SkillFolder } from "../../core/skill.ts";
import {
  describeGrant,
  isEmptyGrant,
  joinGrants,
  toPermissions,
  withoutGrant,
  type SkillGrant,
} from "../../core/skill-grant.ts";
import { listPermissions, renderOpened } from "../render-tool.ts";
import { toPrintableLine } from "../printable.ts";
import { toShellWord, toShownPath } from "../render.ts";
import { whySkipped, renderDiagnostics } from "../skills/render-diagnostics.ts";
import type { CliContext } from "../cli-command.ts";
import type { Terminal } from "../terminal.ts";
import { renderNeeds } from "../skills/render-needs.ts";
import { describePower } from "./require-trust.ts";
import { toOffered, type LookedAt, type LookedAtSkill } from "./find-trust-target.ts";

/** Writes what a person is asked to trust: every file, what it may touch, what a careful reader would stop at. */
export function renderLookedAt({ config, skills, skipped }: LookedAt, cwd: string, terminal: Terminal): string {
  const sections = [
    ...(config === undefined
      ? []
      : [`Configuration, which ${describePower(config.path, config.keys)}:\n${renderFiles([...config.files.keys()])}`]),
    ...skills.map((one) => renderSkill(one, cwd, terminal)),
    ...skipped.map((report) => `${toPrintableLine(report.name)}: ${toPrintableLine(whySkipped(report))}`),
  ];
  return sections.join("\n\n");
}

function renderSkill(
  { report, skill, folder, diagnostics, kept, proposed, needs }: LookedAtSkill,
  cwd: string,
  terminal: Terminal,
): string {
  const path = toShownPath(report.path, cwd);
  const changes = changesOf(folder);
  const hidden = changes.length === 0 ? ["skill-untrusted"] : ["skill-untrusted", "lock-changed"];
  const loud = diagnostics.filter(({ severity, code }) => severity !== "info" && !hidden.includes(code));
  return [
    `${terminal.style("bold", skill.name)} (${toPrintableLine(path)})`,
    `  ${toPrintableLine(skill.description)}`,
    ...(folder.code === undefined ? [] : [`Code, which runs with all your rights: ${toPrintableLine(folder.code)}`]),
    `Permissions: ${toPrintableLine(listPermissions(skill.declared ?? skill.permissions)) || "none"}`,
    ...renderOpened(
      joinPermissions([skill.permissions, toPermissions(joinGrants([kept, toOffered({ proposed, needs })]))]),
      terminal,
      cwd,
    ),
    ...(isEmptyGrant(kept) ? [] : [`Granted by you before, and kept: ${toPrintableLine(describeGrant(kept))}`]),
    ...(isEmptyGrant(proposed)
      ? []
      : [`A yes grants what kitbag.lock says that others granted it: ${toPrintableLine(describeGrant(proposed))}`]),
    ...renderNeeds(needs, terminal),
    ...(changes.length === 0 ? [] : [`Changed since it was trusted:\n${renderFiles(changes)}`]),
    `Files:\n${renderFiles(folder.files.map((file) => file.path))}`,
    ...(loud.length === 0 ? [] : [`Findings:\n${renderDiagnostics(loud, path, terminal)}`]),
  ].join("\n");
}

/** What is new in a skill that was trusted before: permissions first, then files. */
function changesOf({ trust }: SkillFolder): readonly string[] {
  return trust.status === "trusted" ? [] : trust.changed;
}

const mostFiles = 40;

function renderFiles(paths: readonly string[]): string {
  const shown = paths.slice(0, mostFiles).map((path) => `  ${toPrintableLine(path)}`);
  return [...shown, ...(paths.length > mostFiles ? [`  … and ${paths.length - mostFiles} more`] : [])].join("\n");
}

/** Writes what was trusted. */
export function renderTrusted(
  { config, skills, skipped }: LookedAt,
  grants: ReadonlyMap<string, SkillGrant>,
  { lock, context }: { readonly lock: string | undefined; readonly context: CliContext },
): string {
  const { cwd, terminal } = context;
  const files = [...(config?.files ?? [])].map(([path, digest]) => `  ${digest.slice(0, 19)}…  ${path}`);
  const folders = skills.flatMap(({ report, folder, skill }) => {
    const path = toPrintableLine(toShownPath(report.path, cwd));
    const permissions = listPermissions(skill.declared ?? skill.permissions) || "no permissions";
    const granted = grants.get(folder.directory) ?? {};
    const from = isEmptyGrant(granted) ? "" : `; granted: ${toPrintableLine(describeGrant(granted))}`;
    const line = `  ${folder.digest.slice(0, 19)}…  ${path} (${folder.files.length} files; ${permissions}${from})`;
    const all = joinPermissions([skill.permissions, toPermissions(granted)]);
    const more = [...renderOpened(all, terminal, cwd), ...changesOf(folder).slice(0, mostFiles)];
    return [line, ...more.map((text) => `    ${text}`)];
  });
  const left = skills.flatMap((one) => {
    const missing = withoutGrant(toOffered(one), grants.get(one.folder.directory) ?? {});
    if (isEmptyGrant(missing)) return [];
    const cure = `kitbag trust ${toShellWord(toShownPath(one.report.path, cwd))} --yes`;
    return [
      `Not granted to ${one.skill.name}, though it seems to need it: ${describeGrant(missing)}; to grant it: ${cure}`,
    ];
  });
  const findings = terminal.canAsk
    ? []
    : skills.map(({ report, diagnostics }) =>
        renderDiagnostics(
          // What is trusted now is pinned anew.
          diagnostics.filter(
            ({ severity, code }) => severity !== "info" && !/^(?:skill-untrusted|lock-changed)$/u.test(code),
          ),
          toShownPath(report.path, cwd),
          terminal,
        ),
      );
  return [
    `Trusted, as they are now:\n${[...files, ...folders].join("\n")}`,
    ...(config === undefined || config.keys.length === 0
      ? []
      : [`Trusted keys of ${toShownPath(config.path, cwd)}: ${config.keys.join(", ")}`]),
    ...left.map(toPrintableLine),
    ...findings.filter((text) => text !== ""),
    ...skipped.map((report) => `Not trusted: ${toShownPath(report.path, cwd)}: ${whySkipped(report)}`),
    ...(lock === undefined ? [] : [`Pinned in ${toShownPath(lock, cwd)}.`]),
    "If one of them changes, this will be asked again.",
    "Next: kitbag list",
  ].join("\n");
}
