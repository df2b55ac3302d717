import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import type { ExposureName, RunOptions } from "../../agent/agent-options.ts";
import type { AgentRun } from "../../agent/agent-run.ts";
import type { RunResult } from "../../agent/run-result.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveDebugging } from "../agent/debug/ask-at-stop.ts";
import { checkConversationId, addAgentOptions, readAgentOptions } from "../agent/agent-options.ts";
import { breakpointForms, parseBreakpoints } from "../agent/debug/parse-breakpoints.ts";
import { toNext } from "../agent/runs/run-origin.ts";
import { createShownRun, finishRun, toUserMessage } from "../agent/show-run.ts";
import { noteCosts, toRunAnswer } from "../agent/view/describe-end.ts";
import { openAgent, type OpenAgent } from "../agent/open-agent.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { addListOption, addOption, getText, getTexts } from "../options.ts";
import { renderJson } from "../printable.ts";
import { describeFileError } from "../../platform/files.ts";

const maxTaskBytes = 1024 ** 2;

/** `kitbag run`: one task for an agent. */
export const runCommand: CliCommand = {
  examples: [
    [
      `kitbag run "How many words does README.md have?" --skills skills`,
      "the offline model, and a script in the sandbox",
    ],
    [`kitbag run "Summarise sales.csv" --model anthropic/claude-sonnet-5`, "another model"],
    [`kitbag run "What changed?" --json | head`, "one event a line"],
    [`kitbag run "List the tables" --output-schema tables.json`, "an answer that is JSON of this form"],
    [`kitbag run "What is in it?" --image photo.png --max-cost 0.05`, "with a picture, for 5 cents at most"],
    [
      `kitbag run "Sum amount by region in sales.csv" --debug --break tool:csv-report/group_by`,
      "stop before this tool",
    ],
    ["git diff | kitbag run -", "the task from another program"],
    [`kitbag run "Summarise sales.csv" --skills skills --tokens`, "how many tokens the prompt has, part by part"],
  ],
  json: "one event a line, as JSON,",
  define(command) {
    command.argument("<task>", "what to do; - reads standard input");
    addListOption(command, "--skill <name>", "open this skill at the beginning; may be given again");
    addListOption(command, "--image <path>", "show this picture to the model; may be given again");
    addOption(command, "--output-schema <file>", "what the answer must be like: a file with a JSON Schema");
    addOption(command, "--conversation <id>", "go on with this conversation, and save it");
    command.option("--tokens", "show how many tokens the first prompt has, part by part, and ask no model");
    command.option("--debug", "stop before each question and call, and ask what to do; h lists the commands");
    addListOption(command, "--break <place>", `with --debug: stop only at ${breakpointForms}; may be given again`);
    addAgentOptions(command);
  },
  async run(invocation) {
    const { limits, exposure } = readAgentOptions(invocation);
    const breakpoints = parseBreakpoints(invocation);
    const output = readSchema(invocation);
    const conversation = getText(invocation.options, "conversation");
    if (conversation !== undefined) checkConversationId(conversation);
    const text = await readTask(invocation);
    const wanted = { limits, ...(exposure !== undefined && { exposure }) };
    const open = await openAgent(invocation, wanted);
    try {
      if (invocation.options["tokens"] === true) return await billTask(invocation, open, { text, exposure });
      return await runTask(invocation, open, { text, options: output === undefined ? {} : { output }, breakpoints });
    } finally {
      await open.close();
    }
  },
};

async function readTask({ args, terminal }: Invocation): Promise<string> {
  const [given = ""] = args;
  const task = given === "-" ? (await terminal.readInput(maxTaskBytes)).trim() : given;
  if (task.trim() !== "") return task;
  throw usageError(`Cannot run an empty task: say what to do, as in kitbag run "Summarise README.md"`);
}

function readSchema({ options, cwd }: Invocation): JsonObject | undefined {
  const file = getText(options, "outputSchema");
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(resolve(cwd, file), "utf8")) as JsonObject;
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? `it is not JSON: ${cause.message}` : describeFileError(cause);
    throw usageError(`Cannot use --output-schema ${file}: ${reason}`);
  }
}

async function billTask(
  invocation: Invocation,
  open: OpenAgent,
  { text, exposure }: { readonly text: string; readonly exposure: ExposureName | undefined },
): Promise<Answer> {
  const images = getTexts(invocation.options, "image").map((path) => resolve(invocation.cwd, path));
  const { showTokens } = await import("../agent/show-tokens.ts");
  const skills = getTexts(invocation.options, "skill");
  return showTokens(invocation, open, { message: await toUserMessage(text, images), skills, exposure });
}

interface TaskParts {
  readonly text: string;
  readonly options: RunOptions;
  readonly breakpoints: ReturnType<typeof parseBreakpoints>;
}

async function runTask(
  invocation: Invocation,
  open: OpenAgent,
  { text, options, breakpoints }: TaskParts,
): Promise<Answer> {
  const { agent, user, model } = open;
  const skills = getTexts(invocation.options, "skill");
  const conversation = getText(invocation.options, "conversation");
  const images = getTexts(invocation.options, "image").map((path) => resolve(invocation.cwd, path));
  const message = await toUserMessage(text, images);
  const shown = createShownRun(invocation, open, { showsText: options.output === undefined });
  const debugging = breakpoints && (await openDebugging(invocation, breakpoints));
  const run = agent.run([message], {
    ...options,
    // Kept with the run, so that resuming it asks the same model.
    model,
    skills,
    onEvent: shown.onEvent,
    ...(conversation !== undefined && { conversation }),
    ...(user !== undefined && { user }),
    ...(shown.approve !== undefined && { approve: shown.approve }),
    ...(debugging !== undefined && { hooks: debugging.hooks(() => run.stop(), shown.view) }),
  });
  const result = await finishRun(run, shown.view);
  debugging?.close();
  shown.conclude(result);
  return toAnswer(invocation, run, result);
}

async function openDebugging(
  invocation: Invocation,
  breakpoints: NonNullable<TaskParts["breakpoints"]>,
): Promise<LiveDebugging> {
  const { openLiveDebugging } = await import("../agent/debug/ask-at-stop.ts");
  return openLiveDebugging(invocation, breakpoints);
}

/** What a command answers whose run is over: the output, if it is not text, and what it cost. */
function toAnswer(invocation: Invocation, run: AgentRun, result: RunResult): Answer {
  const { terminal, json, options } = invocation;
  const answer = toRunAnswer(result, toNext(invocation, run.id));
  if (json) return answer;
  if (getText(options, "outputSchema") !== undefined && result.status === "ok") {
    terminal.print(`${renderJson(result.output)}\n`);
  }
  noteCosts(run, result, terminal);
  return answer;
}
