import { convertToken } from "../fill/convert-token.ts";
import { parametersOf } from "../fill/parameter.ts";
import { readRequest, type Request } from "../text/read-request.ts";
import { isValueToken } from "../text/token.ts";
import { workOf, type Scene, type Task } from "./decision.ts";
import { readQuestion, saysNo, saysYes, type Question } from "./pending.ts";
import { resolveStep, type Resolution } from "./resolve-step.ts";
import { splitSteps } from "./split-steps.ts";

/** How many questions in a row are remembered. */
const mostQuestions = 10;

/** What the user wants done in the last exchange: what it says, and what a question before it left open. None if it was taken back. */
export function planTasks(scene: Scene, at = scene.conversation.exchanges.length - 1, depth = 0): Task[] {
  const exchange = scene.conversation.exchanges[at];
  const before = scene.conversation.exchanges[at - 1];
  if (exchange === undefined) return [];
  const question = before === undefined || depth > mostQuestions ? undefined : readQuestion(before, scene.tools);
  if (question !== undefined && before !== undefined) {
    if (saysNo(exchange.text)) return [];
    const isReply = question.type === "offer" ? saysYes(exchange.text) : isAnswer(scene, question, exchange.text);
    if (isReply) {
      const [task, ...rest] = planTasks(scene, at - 1, depth + 1).slice(workOf(before).length);
      if (task !== undefined) {
        const answers = question.type === "ask" ? [...task.answers, exchange.text] : task.answers;
        return [{ ...task, tool: question.tool, answers }, ...rest];
      }
    }
  }
  return toTasks(scene, exchange.text);
}

/** A skill that fits so well is meant, also if nothing else says that something new begins. */
const sureSkill = 2.2;

function toTasks(scene: Scene, text: string): Task[] {
  const request = readRequest(text, scene.today);
  const steps = splitSteps(request, (part) => {
    const resolution = resolveAlone(scene, part);
    if (resolution.type === "open")
      return { name: resolution.skill.name, isSure: resolution.score >= sureSkill, isFull: false };
    const isTask = resolution.type === "call" || resolution.type === "ask";
    if (!isTask) return undefined;
    const { tool, filled } = resolution.fit;
    const isFull = part.tokens.every((token, at) => !isValueToken(token) || filled.covered.has(at));
    return { name: tool.name, isSure: resolution.type === "call", isFull };
  });
  return steps.map((step) => ({ request: step, answers: [] }));
}

/** What a text would come to if nothing had been said or done before it. */
function resolveAlone({ matcher }: Scene, request: Request): Resolution {
  return resolveStep(request, {
    matcher,
    tools: [],
    calls: [],
    isChained: false,
    opened: new Set(),
    instructions: new Map(),
    recent: undefined,
    skillBar: 1.6,
    canOpen: () => true,
  });
}

/** Tells whether a message answers a question, and is not something new. */
function isAnswer(scene: Scene, { tool, missing }: Question, text: string): boolean {
  if (text.trim() === "") return false;
  const request = readRequest(text, scene.today);
  const wanted = parametersOf(tool).filter(({ name }) => missing.includes(name));
  const resolution = resolveAlone(scene, request);
  const isTask = resolution.type === "call" || resolution.type === "open";
  const canAnswer = wanted.some((parameter) =>
    request.tokens.some((token) => convertToken(parameter, token) !== undefined),
  );
  if (request.tokens.length <= 3) return canAnswer || !isTask;
  const isOther = resolution.type === "open" || (resolution.type === "call" && resolution.fit.tool.name !== tool.name);
  const fits = wanted.some(
    (parameter) =>
      parameter.type !== "string" && request.tokens.some((token) => convertToken(parameter, token) !== undefined),
  );
  return !isOther || (fits && request.tokens.length <= 6);
}
