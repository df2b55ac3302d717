import { toCanonicalJson, type JsonValue } from "../../../core/json.ts";
import type { DoneCall } from "../conversation/read-conversation.ts";
import { splitName } from "../match/create-matcher.ts";
import { renderDenied, renderResults } from "../talk/render-results.ts";
import {
  askFor,
  offer,
  sayDeclined,
  sayLost,
  sayNothingFits,
  sayPlaceless,
  sayTooMuch,
  sayUndone,
  smallTalk,
} from "../talk/phrases.ts";
import { isMeta, workOf, type Decision, type PlannedCall, type Scene, type Task } from "./decision.ts";
import { findFirstSearch, findNextSearch, toDispatched } from "./dispatch.ts";
import { addAnswers, toInputs } from "./fill-task.ts";
import { findLost } from "./find-lost.ts";
import { findFollowUp } from "./follow-up.ts";
import { planTasks } from "./plan-tasks.ts";
import { findObjection } from "./find-objection.ts";
import { fitTool, type Fit } from "./fit-tool.ts";
import { resolveStep, type Resolution, type StepPlace } from "./resolve-step.ts";
import { findSkillCommand } from "./skill-command.ts";

/** Decides what to do next: one step of the request, a question, or the answer. */
export function decide(scene: Scene): Decision {
  return toDispatched(scene, decideDirectly(scene));
}

function decideDirectly(scene: Scene): Decision {
  const { exchange } = scene;
  const work = workOf(exchange);
  const failed = exchange.rounds.at(-1)?.find(({ result }) => result !== undefined && result.status !== "ok");
  if (failed !== undefined) return say(isMeta(failed.tool) ? renderDenied(failed) : renderResults(work));
  const command = findSkillCommand(scene);
  if (command !== undefined) return command;
  const talk = exchange.rounds.length === 0 ? smallTalk(scene) : undefined;
  if (talk !== undefined) return say(talk);
  const tasks = planTasks(scene);
  const search = findFirstSearch(scene, tasks);
  if (search !== undefined) return search;
  if (work.length === 0) return decideNext(scene, tasks, work) ?? say("All right. What else can I do?");
  const next = decideNext(scene, tasks.slice(work.length), work);
  if (next !== undefined) return next;
  // Whoever has just opened a skill had something to do with it.
  const hasOpened = exchange.rounds.at(-1)?.every(({ tool }) => tool === "activate_skill") === true;
  if (hasOpened) return say(withResults(work, sayUndone(exchange.text)));
  const lost = findLost(scene, tasks, work);
  return say(lost.length === 0 ? renderResults(work) : withResults(work, sayLost(lost)));
}

/** Decides about the first of `tasks` that is not done by what was done already; `undefined` if all are. */
function decideNext(
  scene: Scene,
  tasks: readonly Task[],
  work: readonly (readonly DoneCall[])[],
): Decision | undefined {
  for (const task of tasks) {
    const decision = decideTask(scene, task, work);
    if (decision !== undefined) return decision;
  }
  return undefined;
}

function say(text: string): Decision {
  return { text, calls: [] };
}

function decideTask(scene: Scene, task: Task, work: readonly (readonly DoneCall[])[]): Decision | undefined {
  const place = toPlace(scene, work.length > 0);
  const resolution =
    task.tool === undefined
      ? resolve(scene, task, place)
      : settle(task, fitTool(task.request, task.tool, 0, place), scene);
  const isFound = resolution.type !== "none" && resolution.type !== "offer" && !leavesOut(scene, resolution);
  const search = isFound ? undefined : findNextSearch(scene, task.request);
  if (search !== undefined) return search;
  switch (resolution.type) {
    case "call":
      return call(scene, task, resolution.fit);
    case "open":
      return { text: "", calls: [{ tool: "activate_skill", input: { name: resolution.skill.name } }] };
    case "ask":
      return say(withResults(work, askFor(resolution.fit.tool, resolution.fit.filled.missing)));
    case "offer":
      return say(withResults(work, offer(resolution)));
    case "narrower":
      return say(withResults(work, sayTooMuch(resolution.fit.tool, resolution.said)));
    case "placeless":
      return say(withResults(work, sayPlaceless(resolution.fit.tool, task.request)));
    case "declined":
      return say(withResults(work, sayDeclined(task.request.text)));
    case "none":
      return say(withResults(work, sayNothingFits(scene, task.request.text)));
  }
}

/** Tells whether a call would leave out values of the request: something else may have a use for them. */
function leavesOut({ dispatch }: Scene, resolution: Resolution): boolean {
  if (resolution.type !== "call" || resolution.fit.missed === 0) return false;
  return dispatch?.undescribed.has(resolution.fit.tool.name) !== true;
}

/** What was done already is told before a question is asked. */
function withResults(work: readonly (readonly DoneCall[])[], text: string): string {
  return work.length === 0 ? text : `${renderResults(work)}\n\n${text}`;
}

function settle(task: Task, fit: Fit, { today }: Scene): Resolution {
  const filled = addAnswers(fit.tool, fit.filled, task.answers, today);
  const whole = { ...fit, filled };
  if (filled.missing.length > 0) return { type: "ask", fit: whole };
  const said = findObjection(task.request, whole);
  return said === undefined ? { type: "call", fit: whole } : { type: "narrower", fit: whole, said };
}

function resolve(scene: Scene, task: Task, place: StepPlace): Resolution {
  const resolution = resolveStep(task.request, place);
  const isWeak = resolution.type === "none" || resolution.type === "offer";
  const followUp = findFollowUp(scene, task.request, isWeak);
  if (followUp !== undefined) return followUp;
  if (resolution.type === "call") return { ...resolution, fit: addToLast(scene, resolution.fit) };
  if (!scene.mustCall || resolution.type === "open") return resolution;
  const tool = scene.tools.find(({ name }) => !isMeta(name));
  const fit = resolution.type === "ask" ? resolution.fit : resolution.type === "offer" ? resolution.fits[0] : undefined;
  const forced = fit ?? (tool === undefined ? undefined : fitTool(task.request, tool, 0, place));
  return forced === undefined ? resolution : { type: "call", fit: forced };
}

/** A step that tells the tool of the step before only how to do it means the same thing, done that way. */
function addToLast({ exchange }: Scene, fit: Fit): Fit {
  const last = workOf(exchange).at(-1)?.at(-1);
  const { input, recalled, guessed, used } = fit.filled;
  const isMore = recalled.size > 0 && recalled.size === guessed.size && used.size > 0;
  if (last?.tool !== fit.tool.name || !isMore) return fit;
  return { ...fit, filled: { ...fit.filled, input: { ...last.input, ...input } } };
}

/** What is open and what was done: for a step that follows others, what they did too. */
function toPlace(scene: Scene, isChained: boolean): StepPlace {
  const { conversation, exchange, matcher, tools, skills } = scene;
  const since = exchange.rounds.findLastIndex((round) => round.some(({ tool }) => !isMeta(tool))) + 1;
  const tried = new Set(openings(exchange.rounds.flat()).map(({ skill }) => skill));
  const listed = new Set(skills.map(({ name }) => name));
  const canActivate = tools.some(({ name }) => name === "activate_skill");
  const isOpen = (skill: string): boolean => tools.some(({ name }) => name.startsWith(`${skill}__`));
  const calls = conversation.exchanges.slice(-20).flatMap(({ rounds }) => rounds.flat());
  return {
    matcher,
    tools,
    calls: calls.filter(({ tool }) => !isMeta(tool)),
    isChained,
    opened: new Set(
      openings(exchange.rounds.slice(since).flat())
        .filter(({ text }) => text !== undefined)
        .map(({ skill }) => skill),
    ),
    instructions: new Map(
      openings(calls).flatMap(({ skill, text }) => (text === undefined ? [] : [[skill, text] as const])),
    ),
    recent: isChained ? undefined : recentOwner(calls),
    skillBar: 1.25,
    canOpen: (skill) => canActivate && listed.has(skill) && !tried.has(skill) && !isOpen(skill),
  };
}

/** The skill whose tool was called last. */
function recentOwner(calls: readonly DoneCall[]): string | undefined {
  const [owner, own] = splitName(calls.findLast(({ tool }) => !isMeta(tool))?.tool ?? "");
  return own === undefined ? undefined : owner;
}

/** The skills that were opened, each with its instructions; without, if it could not be opened. */
function openings(calls: readonly DoneCall[]): { skill: string; text: string | undefined }[] {
  return calls.flatMap(({ tool, input: { name }, result }) => {
    if (tool !== "activate_skill" || typeof name !== "string") return [];
    return [{ skill: name, text: result?.status === "ok" ? textsOf(result.value).join("\n") : undefined }];
  });
}

/** All texts in a result: agents answer with the instructions alone, or with an object that has them among others. */
function textsOf(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => textsOf(part)) : [];
}

/** What was called a moment ago is not called again: what came back is the answer, if the task says itself what to do it with. */
function call(scene: Scene, { request }: Task, { tool, filled }: Fit): Decision | undefined {
  const work = workOf(scene.exchange);
  const made = new Set((scene.mustCall ? work.flat() : (work.at(-1) ?? [])).map(keyOf));
  const calls = toInputs(filled)
    .map((input): PlannedCall => ({ tool: tool.name, input }))
    .filter((call) => !made.has(keyOf(call)));
  if (calls.length > 0) return { text: "", calls };
  const isDone = scene.mustCall || filled.used.size > 0 || filled.guessed.size === 0;
  return isDone ? undefined : say(withResults(work, sayUndone(request.text)));
}

function keyOf({ tool, input }: PlannedCall): string {
  return `${tool} ${toCanonicalJson(input)}`;
}
