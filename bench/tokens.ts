import { createWorkspace, type Workspace } from "kitbag";
import { createAgent, type AgentOptions } from "kitbag/agent";
import type { Model, ModelCall, ModelMessage, ModelPart } from "kitbag/models";

import type { Contender, Question } from "./question.ts";
import { createPrefixCache, type Paid } from "./tokens-cache.ts";
import { listAllTools, listSkills } from "./tokens-skills.ts";

const turns = 20;
const ways = ["announce", "announce, Anthropic", "dispatch"] as const;

const question: Question = {
  title: "How many tokens does a long conversation pay for its tools?",
  text: `100 skills with 1,000 tools, ${turns} turns of a conversation with one or two calls each; three skills are opened on the way, one of them after a search. Every question that the agent asks goes through the same simulated prefix cache: tools, system text and messages are places where a prompt can be remembered; "priced" counts what is read from the cache a tenth and what is written one and a quarter. Kitbag announces what is opened (as text, or as Anthropic's tool changes) or dispatches. Against it: all 1,000 tools listed every turn, without skills and their instructions. Also shown: listing the tools of the skills that are open. Tokens are estimated, about a tenth off. A lost prefix is a question that does not begin with the one before. One turn has several questions.`,
  unit: "tokens of input, or a count",
  rounds: 1,
  targets: ways.flatMap((way) => [
    {
      text: `${way} to all tools listed, tokens`,
      unit: "×",
      limit: 0.05,
      value: (cost) => cost(`${way}: tokens`) / cost("all tools listed: tokens"),
    },
    {
      text: `${way} to all tools listed, priced`,
      unit: "×",
      limit: 0.05,
      value: (cost) => cost(`${way}: priced`) / cost("all tools listed: priced"),
    },
    {
      text: `${way}: prefixes lost`,
      unit: "",
      limit: 0,
      value: (cost) => cost(`${way}: prefixes lost`),
    },
  ]),
  async contenders() {
    const workspace = createWorkspace({ skills: [...listSkills()] });
    const all = createWorkspace({ tools: [...listAllTools()] });
    return [
      ...show("announce", await talk({ workspace, exposure: "announce" }, "other")),
      ...show("announce, Anthropic", await talk({ workspace, exposure: "announce" }, "anthropic.messages")),
      ...show("dispatch", await talk({ workspace, exposure: "dispatch" }, "other")),
      ...show("open skills listed", await talk({ workspace, exposure: "direct" }, "other")),
      ...show("all tools listed", await talk({ workspace: all, exposure: "direct" }, "other")),
    ];
  },
};

export default question;

function show(name: string, { raw, priced, lostPrefixes }: Paid): readonly Contender[] {
  return [
    { name: `${name}: tokens`, measure: () => raw },
    { name: `${name}: priced`, measure: () => priced },
    { name: `${name}: prefixes lost`, measure: () => lostPrefixes },
  ];
}

/** What the model does, in each turn: which skill it opens first, and what it calls then. */
const opened = new Map([
  [0, "invoices-north"],
  [7, "tickets-west"],
  [13, "machines-central"],
]);

interface Step {
  readonly tool: string;
  readonly input: object;
}

/** The steps of one turn. Where every tool is in the list there is nothing to open, and where it changes there is nothing to search. */
function planTurn(turn: number, isListed: boolean, exposure: string): readonly Step[] {
  const skill = [...opened].findLast(([first]) => first <= turn)?.[1] ?? "";
  const calls = turn % 2 === 0 ? ["search", "get"] : ["comment"];
  const steps = calls.map((operation, index) => ({
    tool: isListed ? `${skill}-${operation}` : `${skill}/${operation}`,
    input: { reference: `2026-${String(turn).padStart(3, "0")}${index}`, status: "open", since: "2026-04-01" },
  }));
  if (isListed || !opened.has(turn)) return steps;
  const search = { tool: "search_tools", input: { query: `comment on a ${skill.split("-")[0]}` } };
  return [
    ...(turn === 7 && exposure !== "direct" ? [search] : []),
    { tool: "activate_skill", input: { name: skill } },
    ...steps,
  ];
}

/** Has the whole conversation, turn after turn, as a program would: with the messages and the open skills of the turn before. */
async function talk(
  { workspace, exposure }: { readonly workspace: Workspace; readonly exposure: NonNullable<AgentOptions["exposure"]> },
  provider: string,
): Promise<Paid> {
  const cache = createPrefixCache();
  const isListed = workspace.getSkills().length === 0;
  let steps: readonly Step[] = [];
  const model = scriptedModel(provider, (call) => {
    cache.ask(call);
    const [next, ...rest] = steps;
    steps = rest;
    return next && toWireStep(next, call);
  });
  const agent = createAgent({ model, workspace, exposure, instructions: "You help the people of an office." });
  let messages: readonly ModelMessage[] = [];
  let skills: readonly string[] = [];
  for (let turn = 0; turn < turns; turn++) {
    steps = planTurn(turn, isListed, exposure);
    const calls = steps.length;
    const said = `Please look at number 2026-${turn}, tell me how it stands, and leave a note that I asked about it today.`;
    const task: ModelMessage[] = [...messages, { role: "user", content: [{ type: "text", text: said }] }];
    const result = await agent.run(task, { skills });
    const failed = JSON.stringify(result.messages.slice(task.length)).includes("error-text");
    if (result.usage.toolCalls !== calls || failed) throw new Error(`Turn ${turn} went wrong`);
    ({ messages, skills } = result);
  }
  return cache.paid;
}

/** A tool that is in the list is called by its name there, any other one with `call_tool`. */
function toWireStep({ tool, input }: Step, { tools = [], prompt }: ModelCall): Step {
  const name = tool.replace("/", "__");
  const announced = JSON.stringify(prompt.filter(({ role }) => role === "system")).includes(`"name\\":\\"${name}`);
  const isNative = prompt.some(({ providerOptions }) => JSON.stringify(providerOptions ?? {}).includes(`"${name}"`));
  if (tools.some((listed) => listed.name === name) || announced || isNative) return { tool: name, input };
  return { tool: "call_tool", input: { name, input } };
}

function scriptedModel(provider: string, next: (call: ModelCall) => Step | undefined): Model {
  let calls = 0;
  return {
    specificationVersion: "v4",
    provider,
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate() {
      throw new Error("Only streams are measured");
    },
    async doStream(call) {
      const step = next(call);
      const text = "It is open and waits for the customer since Monday. I left a note that you asked about it today.";
      const parts: ModelPart[] =
        step === undefined
          ? [
              { type: "text-start", id: "0" },
              { type: "text-delta", id: "0", delta: text },
              { type: "text-end", id: "0" },
            ]
          : [
              {
                type: "tool-call",
                toolCallId: `call-${calls++}`,
                toolName: step.tool,
                input: JSON.stringify(step.input),
              },
            ];
      return { stream: ReadableStream.from([...parts, finish(step === undefined)]) };
    },
  };
}

function finish(isDone: boolean): ModelPart {
  const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    type: "finish",
    finishReason: { unified: isDone ? "stop" : "tool-calls", raw: undefined },
    usage: { inputTokens: unknown, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
  };
}
