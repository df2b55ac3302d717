import type { RunOptions } from "../../../agent/agent-options.ts";
import type { AgentRun } from "../../../agent/agent-run.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import type { Store } from "../../../core/store.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { usageError } from "../../usage-error.ts";
import { chooseModel } from "../choose-model.ts";
import { readAgentOptions } from "../read-agent-options.ts";
import { createShownRun, finishRun } from "../show-run.ts";
import { toRunAnswer } from "../view/describe-end.ts";
import { renderCostTable } from "../view/show-cost.ts";
import { withAgent, type OpenAgent } from "../with-agent.ts";
import { needRun, type ReadRun } from "./read-run.ts";

/** A run that a command goes on with, and what it needs for that. */
export interface KnownRun {
  readonly open: OpenAgent;
  readonly store: Store;
  readonly run: ReadRun;
  /** The options for going on: who is asked, who is told, which model answers. */
  toOptions(): RunOptions;
  /** Shows a run until it is over. */
  finish(run: AgentRun): Promise<RunResult>;
  /** What the command answers then. */
  toAnswer(run: AgentRun, result: RunResult): Answer;
}

/** Does `work` with an agent and the run that the first word names. */
export async function withRun(invocation: Invocation, work: (known: KnownRun) => Promise<Answer>): Promise<Answer> {
  const { limits, exposure } = readAgentOptions(invocation);
  const wishes = { limits, asksModel: false, ...(exposure !== undefined && { exposure }) };
  return withAgent(invocation, wishes, async (open) => {
    const { store } = open;
    if (store === undefined) throw usageError("Cannot go on with a run: nothing is kept with --store none");
    const run = await needRun(store, invocation.args[0] ?? "");
    const shown = createShownRun(invocation, open);
    const model = getText(invocation.options, "model") ?? toModelName(run.model) ?? chooseModel(invocation, open.model);
    return work({
      open,
      store,
      run,
      toOptions: () => ({
        model,
        onEvent: shown.onEvent,
        ...(open.user !== undefined && { user: open.user }),
        ...(shown.approve !== undefined && { approve: shown.approve }),
      }),
      finish: (going) => finishRun(going, shown.view),
      toAnswer(going, result) {
        shown.conclude(result);
        return toGoneOn(invocation, going, result);
      },
    });
  });
}

/** How providers are called by those who ask for a model, by what they call themselves. */
const providers: Readonly<Record<string, string>> = {
  "openai.responses": "openai",
  "openai.chat": "openai-chat",
  "anthropic.messages": "anthropic",
  "google.generative-ai": "google",
  "ollama.chat": "ollama",
  "lmstudio.chat": "lmstudio",
};

/** The name to ask for the model that a run was begun with, if there is one. */
function toModelName(model: string): string | undefined {
  if (model === "kitbag/local") return "local";
  const [provider = "", ...rest] = model.split("/");
  const name = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return name === undefined ? undefined : `${name}/${rest.join("/")}`;
}

function toGoneOn({ terminal, json }: Invocation, run: AgentRun, result: RunResult): Answer {
  if (!json && result.steps > 0) terminal.note(`\n${renderCostTable(run.breakdown(), terminal)}\n`);
  return toRunAnswer(result);
}
