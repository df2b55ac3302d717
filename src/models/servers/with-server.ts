import { type Clock, machineClock } from "../../platform/clock.ts";
import { countImages } from "../images/count-images.ts";
import type { Model, ModelAnswer, ModelCall, ModelPart } from "../model.ts";
import { promptTools } from "../prompted/prompt-tools.ts";
import { describeFailure } from "../retry/describe-failure.ts";
import { mapSource, type PartAnswer, type PartSource } from "../shims/part-source.ts";
import { askForParts, wrapParts } from "../shims/wrap-model.ts";
import { estimatePromptTokens } from "../tokens/estimate-tokens.ts";
import { createAskServer, type ServerAddress } from "./ask-server.ts";
import { findCut, planContext } from "./plan-context.ts";
import { createServerLink, type ServerLink, setServerLink } from "./server-link.ts";
import type { LocalServer, ServerModel } from "./server-model.ts";
import { watchLoading } from "./watch-loading.ts";

/** How {@link withServer} waits. */
export interface WithServerOptions {
  /** How long the server may take to load the model. @default 300_000 */
  readonly loadMs?: number;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

type Warnings = ModelAnswer["warnings"];

/** A question as the server gets it, and what is told about it. */
interface Planned {
  readonly model: Model;
  readonly call: ModelCall;
  readonly warnings: Warnings;
  readonly promptTokens: number;
}

/**
 * A model on a server of your own, which is asked what it has: a model without tools gets them in its prompt, a prompt that is longer
 * than what the server reads is told about, and while the server loads the model the listener of the question is told.
 */
export function withServer(
  model: Model,
  server: LocalServer,
  address: ServerAddress,
  options: WithServerOptions = {},
): Model {
  const { loadMs = 300_000, clock = machineClock } = options;
  const link = createServerLink(server, model.modelId, createAskServer(address), clock);
  const prompted = promptTools(model);
  let refusesTools = false;

  const askOnce = async <Answer>(call: ModelCall, ask: (planned: Planned) => Promise<Answer>): Promise<Answer> => {
    const facts = await link.look();
    const promptTokens = countPrompt(call, model);
    const warnings: Warnings = [];
    const { tokens, warning } = planContext(call, link, promptTokens);
    if (warning !== undefined) warnings.push({ type: "other", message: warning });
    const planned = toThinkable(tokens === undefined ? call : withContext(call, tokens), facts, warnings);
    const loading = watchLoading({ model, call: planned, link, contextTokens: tokens, clock, loadMs });
    try {
      await loading.untilReady();
      const answer = await ask({
        model: hasTools(call) && (refusesTools || facts?.tools === false) ? prompted : model,
        call: { ...planned, ...(loading.signal && { abortSignal: loading.signal }) },
        warnings,
        promptTokens,
      });
      link.noteLoaded(tokens);
      return answer;
    } catch (cause) {
      throw loading.failure() ?? cause;
    } finally {
      loading.end();
    }
  };
  const askTwice = async <Answer>(call: ModelCall, ask: (planned: Planned) => Promise<Answer>): Promise<Answer> => {
    try {
      return await askOnce(call, ask);
    } catch (cause) {
      if (refusesTools || !hasTools(call) || !isAboutTools(cause)) throw cause;
      refusesTools = true;
      return askOnce(call, ask);
    }
  };
  const wrapped = wrapParts(model, {
    doGenerate: (call) => askTwice(call, (planned) => generate(planned, link)),
    ask: (call) => askTwice(call, (planned) => open(planned, link)),
  });
  setServerLink(wrapped, link);
  return wrapped;
}

/** How servers say that a model has no tools, or that they were started without them. */
const noTools =
  /does not support (?:tools|function)|tool choice requires|requires --jinja|tools? (?:param|use).{0,40}not supported/iu;

function isAboutTools(cause: unknown): boolean {
  const { text, body } = describeFailure(cause);
  return noTools.test(text) || noTools.test(body);
}

function hasTools({ tools }: ModelCall): boolean {
  return tools !== undefined && tools.length > 0;
}

/** About how many tokens the server reads. Pictures count differently on every server, and are left out. */
function countPrompt({ prompt, tools = [] }: ModelCall, model: Model): number {
  const shown = tools.filter((tool) => tool.type === "function");
  return countImages(prompt) > 0 ? 0 : estimatePromptTokens({ messages: prompt, tools: shown }, model);
}

/** A model that does not think refuses to be told how much it should. */
function toThinkable(call: ModelCall, facts: ServerModel | undefined, warnings: Warnings): ModelCall {
  const { reasoning, ...rest } = call;
  const isAsked = reasoning !== undefined && reasoning !== "none" && reasoning !== "provider-default";
  if (facts?.thinking !== false || !isAsked) return call;
  warnings.push({ type: "unsupported", feature: "reasoning", details: "this model does not think" });
  return rest;
}

function withContext(call: ModelCall, numCtx: number): ModelCall {
  const { ollama, ...others } = call.providerOptions ?? {};
  return { ...call, providerOptions: { ...others, ollama: { ...ollama, numCtx } } };
}

async function generate({ model, call, warnings, promptTokens }: Planned, link: ServerLink): Promise<ModelAnswer> {
  const answer = await model.doGenerate(call);
  const cut = noteCut(link, promptTokens, answer.usage.inputTokens.total);
  const more: Warnings = cut === undefined ? warnings : [...warnings, { type: "other", message: cut }];
  return { ...answer, warnings: [...answer.warnings, ...more] };
}

/** Asks for the parts of an answer, and waits for the first that the server sent. */
async function open({ model, call, warnings, promptTokens }: Planned, link: ServerLink): Promise<PartAnswer> {
  const answer = await askForParts(model, call);
  const { source } = answer;
  const held: (ModelPart | undefined)[] = [];
  do held.push(await source.next());
  while (held.at(-1)?.type === "stream-start");
  const whole: PartSource = {
    next: () => (held.length > 0 ? held.shift() : source.next()),
    cancel: (reason) => source.cancel(reason),
  };
  const change = (part: ModelPart): ModelPart => {
    if (part.type === "stream-start") return { ...part, warnings: [...part.warnings, ...warnings] };
    const cut = part.type === "finish" ? noteCut(link, promptTokens, part.usage.inputTokens.total) : undefined;
    return cut === undefined ? part : withWarning(part, cut);
  };
  return { ...answer, source: mapSource(whole, change) };
}

function withWarning(part: ModelPart, warning: string): ModelPart {
  if (part.type !== "finish") return part;
  const { providerMetadata } = part;
  return { ...part, providerMetadata: { ...providerMetadata, kitbag: { ...providerMetadata?.["kitbag"], warning } } };
}

function noteCut(link: ServerLink, promptTokens: number, readTokens: number | undefined): string | undefined {
  const cut = findCut(link, promptTokens, readTokens);
  if (cut !== undefined && readTokens !== undefined) link.learn(readTokens);
  return cut;
}
