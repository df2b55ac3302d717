import type { ModelTool } from "../../model.ts";
import type { ListedSkill } from "../conversation/parse-catalog.ts";
import type { DoneCall } from "../conversation/read-conversation.ts";
import { fillParameters, type Filled } from "../fill/fill-parameters.ts";
import { parametersOf } from "../fill/parameter.ts";
import { splitName, type Match, type Matcher } from "../match/create-matcher.ts";
import { isDangerous, namesDanger } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { isValueToken } from "../text/token.ts";
import { createRecall } from "./recall-value.ts";

/** A tool with what the request gives it. */
export interface Fit {
  readonly tool: ModelTool;
  readonly filled: Filled;
  readonly score: number;
}

/** What to do for one step. */
export type Resolution =
  | { readonly type: "call"; readonly fit: Fit }
  | { readonly type: "ask"; readonly fit: Fit }
  | { readonly type: "open"; readonly skill: ListedSkill }
  | { readonly type: "offer"; readonly fits: readonly Fit[]; readonly skills: readonly ListedSkill[] }
  | { readonly type: "none" };

/** What is there to choose from. */
export interface StepPlace {
  readonly matcher: Matcher;
  /** Calls that were made before, the oldest first. */
  readonly calls: readonly DoneCall[];
  /** Whether this step follows another one of the same request. */
  readonly isChained: boolean;
  /** Skills that were opened for this step, and what their instructions say. */
  readonly opened: ReadonlyMap<string, string>;
  readonly canOpen: (skill: string) => boolean;
}

/** Below it a match is chance. */
const sure = 3;
const near = 1.5;

/** How many tools are filled to see which one fits. */
const closelyLooked = 8;

/** Decides what to do for one step of a request. */
export function resolveStep(request: Request, place: StepPlace): Resolution {
  const matches = place.matcher.rank(request);
  const fits = matches
    .flatMap(({ item, score }) =>
      item.tool === undefined ? [] : [{ tool: item.tool, score: score + openedBonus(item.tool, place) }],
    )
    .toSorted((left, right) => right.score - left.score)
    .filter(({ tool }) => !isDangerous(tool) || namesDanger(request, tool))
    .slice(0, closelyLooked)
    .map(({ tool, score }) => fitTool(request, tool, score, place))
    .toSorted((left, right) => right.score - left.score);
  const skills = matches.filter(({ item }) => item.skill !== undefined && place.canOpen(item.skill.name));
  return choose(fits, skills, place);
}

function choose(fits: readonly Fit[], skills: readonly Match[], place: StepPlace): Resolution {
  const [best] = fits;
  const [skill] = skills;
  const listed = skill?.item.skill;
  const bar = place.opened.size > 0 ? near : sure;
  const isFit = best !== undefined && best.score >= bar;
  if (
    skill !== undefined &&
    listed !== undefined &&
    skill.score >= sure &&
    skill.score > (best?.score ?? 0) + (isFit && best.filled.missing.length === 0 ? 0.5 : 0)
  ) {
    return { type: "open", skill: listed };
  }
  if (isFit) return { type: best.filled.missing.length === 0 ? "call" : "ask", fit: best };
  const offered = fits.filter(({ score }) => score >= near).slice(0, 3);
  const nearSkills = skills.filter(({ score }) => score >= near).flatMap(({ item }) => item.skill ?? []);
  return offered.length + nearSkills.length === 0
    ? { type: "none" }
    : { type: "offer", fits: offered, skills: nearSkills.slice(0, 3) };
}

/** The tools of a skill that was opened for this are most likely meant. */
function openedBonus(tool: ModelTool, { opened }: StepPlace): number {
  const [owner, own = owner] = splitName(tool.name);
  for (const [skill, instructions] of opened) {
    if (owner === skill) return 3;
    if (instructions.includes(`${owner}/${own}`)) return 2.5;
  }
  return 0;
}

/** Fills a tool and adds to its score how well the values fit it. */
export function fitTool(
  request: Request,
  tool: ModelTool,
  score: number,
  place: Pick<StepPlace, "calls" | "isChained">,
): Fit {
  const recall = createRecall(request, place.calls, place.isChained);
  const filled = fillParameters({ request, parameters: parametersOf(tool), toolStems: toolStemsOf(tool), recall });
  const values = request.tokens.flatMap((token, at) => (isValueToken(token) && token.kind !== "flag" ? [at] : []));
  const taken = values.filter((at) => filled.used.has(at)).length;
  const missed = Math.min(3, values.length - taken);
  const fit =
    Math.min(3, taken) * 0.6 - missed * 0.5 - Math.min(3, filled.missing.length) * 0.9 - filled.guessed.size * 0.1;
  return { tool, filled, score: score + fit };
}

const stems = new WeakMap<ModelTool, ReadonlySet<string>>();

/** The words of a tool's name and description, and what is said instead of them. */
export function toolStemsOf(tool: ModelTool): ReadonlySet<string> {
  let found = stems.get(tool);
  if (found === undefined) {
    const own = toStems(`${tool.name} ${(tool.description ?? "").slice(0, 2000)}`);
    const name = new Set(toStems(tool.name));
    const verb = toStems((tool.description ?? "").slice(0, 60))[0] ?? "";
    found = new Set([...own, ...[...name, verb].flatMap((stem) => [...synonymsOf(stem)])]);
    stems.set(tool, found);
  }
  return found;
}
