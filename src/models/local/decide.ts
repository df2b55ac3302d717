import { toCanonicalJson } from "../../core/json.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ModelTool } from "../model.ts";
import { asObject, type DoneCall, type ListedSkill } from "./conversation.ts";
import { convertText } from "./convert-text.ts";
import { findSearch, toDispatched, type PlannedCall } from "./dispatch.ts";
import { fitTool, isNamed, rankSkills, rankTools, type Fit, type FitOptions } from "./fit.ts";
import type { Parameter } from "./parameters.ts";
import { readRequest, splitSteps, type Request } from "./read-request.ts";
import { answerFromMemory, memorySkill, planRemember } from "./remembered.ts";
import { renderDenied, renderResults } from "./render-results.ts";
import { askFor, offer, readOffer, readQuestion, sayNothingFits, sayOpened, smallTalk } from "./say.ts";
import { isMeta, workOf, type Decision, type Scene } from "./scene.ts";
import { isBlocker } from "./words.ts";

/** One thing to do. */
interface Step {
  readonly text: string;
  /** The tool, if the user was asked about it. */
  readonly tool?: ModelTool;
  /** What the user said when asked for more. */
  readonly answers: readonly string[];
}

/** Decides what to do next: a call for the next step of the request, a question, or the answer. */
export function decide(scene: Scene): Decision {
  const { exchange, dispatch } = scene;
  const work = workOf(exchange);
  const last = exchange.calls.at(-1);
  if (last?.result !== undefined && last.result.status !== "ok")
    return { text: isMeta({ name: last.tool }) ? renderDenied(last) : renderResults(work) };
  const talk = exchange.calls.length === 0 ? smallTalk(scene) : undefined;
  if (talk !== undefined) return { text: talk };
  const step = planSteps(scene)[work.length];
  if (step === undefined || (scene.mustCall && work.length > 0)) return { text: renderResults(work) };
  const { text, call } = decideStep(scene, step);
  if (call !== undefined) {
    const isRepeated = work.some((done) => keyOf(done) === keyOf(call));
    return isRepeated ? { text: renderResults(work) } : { text: "", call: toDispatched(dispatch, call) };
  }
  // What was done already is told before a question is asked.
  return { text: work.length === 0 ? text : `${renderResults(work)}\n\n${text}` };
}

function keyOf({ tool, input }: PlannedCall | DoneCall): string {
  return `${tool} ${toCanonicalJson(input)}`;
}

/** The steps of the request. An answer to a question goes on with what the question was about. */
function planSteps(scene: Scene): Step[] {
  const { conversation, exchange } = scene;
  const own = splitSteps(exchange.text).map((text): Step => ({ text, answers: [] }));
  const before = conversation.exchanges.at(-2);
  if (before === undefined) return own;
  const isYes =
    /^(?:yes|yep|yeah|sure|ok|okay|please do|do it|go ahead)(?:[ ,]+(?:please|do|do it|thanks))?[.!]*$/iu.test(
      exchange.text.trim(),
    );
  const name = readQuestion(before.answer) ?? (isYes ? readOffer(before.answer) : undefined);
  const tool = scene.tools.find((one) => one.name === name);
  if (tool === undefined || (!isYes && isNewRequest(scene, own, tool))) return own;
  const earlier = { ...conversation, exchanges: conversation.exchanges.slice(0, -1) };
  const [first, ...rest] = planSteps({ ...scene, conversation: earlier, exchange: before }).slice(
    workOf(before).length,
  );
  if (first === undefined) return own;
  return [{ text: first.text, tool, answers: isYes ? first.answers : [...first.answers, exchange.text] }, ...rest];
}

/** Whether the user wants something else instead of answering a question about `asked`. */
function isNewRequest(scene: Scene, [step]: readonly Step[], asked: ModelTool): boolean {
  if (step === undefined) return false;
  const [best] = rankTools(readRequest(step.text), candidates(scene), optionsOf(scene));
  return best !== undefined && best.isSure && best.filled.missing.length === 0 && best.tool.name !== asked.name;
}

function candidates({ tools }: Scene): ModelTool[] {
  return tools.filter((tool) => !isMeta(tool));
}

function optionsOf(scene: Scene, text = ""): FitOptions {
  const calls = scene.conversation.exchanges.flatMap(workOf);
  const last = calls.at(-1);
  const isMeant = /\b(?:it|its|that|them|this|those|same|result|output)\b/iu.test(text);
  return {
    skills: scene.skills,
    today: scene.today,
    ...(isMeant && last !== undefined && { recall: (parameter: Parameter) => recall(parameter, last) }),
  };
}

/** "It" refers to the subject of the previous call, or to its result. */
function recall({ name, takes, type }: Parameter, { input, result }: DoneCall): JsonValue | undefined {
  const found = result?.value ?? null;
  const same = input[name] ?? asObject(found)[name] ?? undefined;
  if (same !== undefined) return same;
  if (takes === "file") return Object.values(input).find((value) => typeof value === "string" && /[./]/u.test(value));
  if (takes !== "text" || (typeof found !== "string" && typeof found !== "number")) return undefined;
  return type === "string" ? String(found) : type === typeof found ? found : undefined;
}

function decideStep(scene: Scene, step: Step): Decision {
  const remembering = step.tool === undefined ? remember(scene, step.text) : undefined;
  return remembering ?? decideTool(scene, step);
}

function decideTool(scene: Scene, step: Step): Decision {
  const options = optionsOf(scene, step.text);
  const request = readRequest(step.text);
  if (step.tool !== undefined) return useTool(fitAnswers(step, fitTool(request, step.tool, options), options));
  const fits = rankTools(request, candidates(scene), options);
  const [best] = fits;
  const sure = fits.filter((fit) => best?.isSure === true && isEqual(fit, best));
  if (best?.isSure === true && best.filled.missing.length === 0) {
    const isClear = sure.length === 1 || isNamed(request, best.tool) || scene.mustCall;
    return isClear ? useTool(best) : { text: offer(sure.slice(0, 3)) };
  }
  const reached = reach(scene, request, best);
  if (reached !== undefined) return { text: "", call: reached };
  if (best === undefined || !(scene.mustCall || isAsked(best))) return decline(scene, request, fits);
  return scene.mustCall ? { text: "", call: { tool: best.tool.name, input: best.filled.input } } : useTool(best);
}

/** Answers from the memory across conversations, or has it remember something, if that is what the user clearly wants. */
function remember(scene: Scene, text: string): Decision | undefined {
  const known = answerFromMemory(scene, text);
  if (known !== undefined) return { text: known };
  const planned = planRemember(scene, text);
  if (planned?.tool !== undefined) return { text: "", call: { tool: planned.tool.name, input: planned.input } };
  const skill = scene.skills.find(({ name }) => name === memorySkill);
  if (planned === undefined || skill === undefined || !canOpen(scene, skill)) return undefined;
  return { text: "", call: { tool: "activate_skill", input: { name: memorySkill } } };
}

/** Whether a tool is near enough to ask for what is missing. */
function isAsked({ isSure, isNear, filled }: Fit): boolean {
  return (isSure || isNear) && filled.missing.length > 0;
}

/** Searches for tools, or opens a skill, where no tool that is there will do. */
function reach(scene: Scene, request: Request, best: Fit | undefined): PlannedCall | undefined {
  const { dispatch, skills } = scene;
  const search = dispatch && findSearch(dispatch, toolOf(scene, "search_tools"), request, openedIn(scene).at(-1));
  if (search !== undefined) return search;
  const [found] = rankSkills(
    request,
    skills.filter((one) => canOpen(scene, one)),
  );
  const isBetter = best === undefined || !isAsked(best) || (found?.account.matched ?? 0) > best.matched;
  return found !== undefined && isBetter ? { tool: "activate_skill", input: { name: found.skill.name } } : undefined;
}

/** Whether two tools account for a request equally well, so that it does not tell which is meant. */
function isEqual(fit: Fit, best: Fit): boolean {
  const count = ({ evidence, matched, unknown, filled }: Fit): string =>
    [evidence, matched, unknown.length, filled.missing.length].join();
  return fit.isSure && count(fit) === count(best);
}

function useTool({ tool, filled: { input, missing } }: Pick<Fit, "filled" | "tool">): Decision {
  return missing.length > 0 ? { text: askFor(tool, missing) } : { text: "", call: { tool: tool.name, input } };
}

/** Adds what the user answered: values as in a request, or the whole answer if one thing was asked for. */
function fitAnswers({ answers }: Step, fit: Fit, options: FitOptions): Fit {
  const input = new Map(Object.entries(fit.filled.input));
  const missing = (): Parameter[] => fit.filled.missing.filter(({ name }) => !input.has(name));
  for (const answer of answers) {
    const more = Object.entries(fitTool(readRequest(answer), fit.tool, options).filled.input).filter(
      ([name]) => !input.has(name),
    );
    for (const [name, value] of more) input.set(name, value);
    const [only, ...others] = missing();
    if (more.length > 0 || only === undefined || others.length > 0 || answer.trimEnd().endsWith("?")) continue;
    const value = convertText(only, answer.trim().replace(/^["'`]([^]*)["'`]$/u, "$1"));
    if (value !== undefined) input.set(only.name, value);
  }
  return { ...fit, filled: { ...fit.filled, input: Object.fromEntries(input), missing: missing() } };
}

function toolOf({ tools }: Scene, wanted: string): ModelTool | undefined {
  return tools.find(({ name }) => name === wanted);
}

/** The skills that were opened for this step. */
function openedIn({ exchange: { calls } }: Scene): string[] {
  const since = calls.findLastIndex(({ tool }) => !isMeta({ name: tool })) + 1;
  return calls
    .slice(since)
    .flatMap(({ tool, input }) =>
      tool === "activate_skill" && typeof input["name"] === "string" ? [input["name"]] : [],
    );
}

/** A skill that is listed, was not tried for this request, and is not open. */
function canOpen(scene: Scene, { name }: ListedSkill): boolean {
  const opened = openedIn(scene);
  const isTried = opened.length > 1 || opened.includes(name);
  const closed = new Set(scene.dispatch?.closed.keys());
  const isOpen = scene.tools.some((tool) => tool.name.startsWith(`${name}__`) && !closed.has(tool.name));
  return toolOf(scene, "activate_skill") !== undefined && !isTried && !isOpen;
}

/** Names the nearest tools, or says that no tool is near. A request that says what not to do gets no offer. */
function decline(scene: Scene, request: Request, fits: readonly Fit[]): Decision {
  const isBlocked = request.tokens.some(({ kind, text }) => kind === "word" && isBlocker(text));
  const near = fits
    .filter(({ evidence, unknown, matched }) => evidence > 0 && unknown.length <= matched + 1)
    .slice(0, 3);
  if (near.length > 0 && !isBlocked) return { text: offer(near) };
  const opened = openedIn(scene).at(-1);
  return { text: opened !== undefined ? sayOpened(opened, request.text) : sayNothingFits(scene, request.text) };
}
