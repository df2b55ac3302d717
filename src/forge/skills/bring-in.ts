import { isKitbagError } from "../../core/errors.ts";
import { toRealPath } from "../../platform/paths.ts";
import { createFolderTrust } from "../../skills/trust/folder-trust.ts";
import { type FollowedSkills, loadSkills } from "../../workspace/skills/folder-skills.ts";
import type { ForgeDiagnostic, LiveSkill, SkillAnswer } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { StoredSkill } from "./stored-skill.ts";
import { refuseDraft } from "../creation/answer.ts";

/** Brings a skill whose folder was written or removed into the workspace, or out of it. */
export interface BringIn {
  /** Call it after the folder of a skill was written. Answers with the reasons if the skill is not in the workspace afterwards. */
  put(stored: StoredSkill): Promise<readonly ForgeDiagnostic[] | undefined>;
  /** Call it after the folder of a skill was removed. */
  drop(stored: StoredSkill): Promise<void>;
}

/** Makes a {@link BringIn}. If the folders are watched, the watcher adds and removes the skills, and this only waits for it. */
export function createBringIn(parts: ForgeParts, followed: FollowedSkills | undefined): BringIn {
  if (followed === undefined) {
    return {
      put: (stored) => putSkill(parts, stored),
      drop: async ({ name }) => void (await parts.workspace.removeSkill(name)),
    };
  }
  return {
    put: (stored) => waitFor(followed, stored),
    async drop({ target }) {
      const directory = toRealPath(target);
      await untilReload(followed, () => followed.reports().every((one) => one.directory !== directory));
    },
  };
}

async function putSkill(
  { workspace, home }: ForgeParts,
  { target }: StoredSkill,
): Promise<readonly ForgeDiagnostic[] | undefined> {
  const { reports } = await loadSkills({ directories: [target], trust: createFolderTrust({ home }) });
  const [report] = reports;
  if (report?.skill === undefined) return report?.diagnostics ?? [];
  try {
    if (workspace.getSkill(report.skill.name) === undefined) workspace.addSkill(report.skill);
    else workspace.replaceSkill(report.skill);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return [{ severity: "error", code: cause.code, message: cause.message, file: "SKILL.md" }];
  }
}

const longestWaitMs = 10_000;

/** Waits until the watcher has read the folder of a skill in its new state. */
async function waitFor(
  followed: FollowedSkills,
  { target, live }: StoredSkill,
): Promise<readonly ForgeDiagnostic[] | undefined> {
  const directory = toRealPath(target);
  const find = () => followed.reports().find((one) => one.directory === directory);
  const isSeen = (): boolean => {
    const report = find();
    return report !== undefined && (report.skill === undefined || report.skill.folder?.digest === live?.digest);
  };
  await untilReload(followed, isSeen);
  const report = find();
  if (report?.skill !== undefined && isSeen()) return undefined;
  const message = "the folder was written, but the watcher of skills has not seen it";
  const unseen: ForgeDiagnostic = { severity: "error", code: "skill-unseen", message, file: "SKILL.md" };
  return report?.skill === undefined ? (report?.diagnostics ?? [unseen]) : [unseen];
}

async function untilReload(followed: FollowedSkills, isDone: () => boolean): Promise<void> {
  if (isDone()) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, longestWaitMs);
    const stop = followed.onReload(() => {
      if (isDone()) done();
    });
  });
}

/** The answer about a skill that is in the workspace now: its version, its tools and how to call them. */
export function toLiveSkill(
  { workspace }: Pick<ForgeParts, "workspace">,
  { name, current }: StoredSkill,
  { change, replay, diagnostics = [] }: Partial<Pick<LiveSkill, "change" | "replay" | "diagnostics">> = {},
): SkillAnswer {
  const skill = workspace.getSkill(name);
  if (skill === undefined || current === undefined) {
    const message = "it is not in the workspace; see what is wrong with: kitbag check";
    return refuseDraft(name, [{ severity: "error", code: "skill-unseen", message, file: "SKILL.md" }]);
  }
  const tools = skill.tools.map((tool) => `${name}/${tool.name}`);
  return {
    status: "live",
    name,
    version: current.label,
    path: `.kitbag/skills/${name}`,
    tools,
    howToCall: [
      `Open it: activate_skill {"name": ${JSON.stringify(name)}}`,
      ...tools.map((tool) => `Then call ${tool}`),
    ],
    ...(change !== undefined && { change }),
    ...(replay !== undefined && { replay }),
    diagnostics,
  };
}
