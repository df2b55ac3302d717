import { ProtocolError, ProtocolErrorCode, type CompleteResult, type McpServer } from "@modelcontextprotocol/server";

import { nearestNames } from "../../../core/nearest.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import type { ServedClient } from "../client.ts";
import { listPrompts } from "../prompts/attach-prompts.ts";
import { findUsableSkills, useSkillName } from "../prompts/use-skill.ts";
import { listPromptNames } from "../prompts/workflow-prompts.ts";
import { findRunIds } from "../resources/run-resources.ts";
import { findVisibleSkills, openShelf } from "../skills/attach-skills.ts";
import { skillRoot } from "../skills/skill-uri.ts";
import {
  completeToolArgument,
  findPaths,
  findSeenHandles,
  listArguments,
  listToolAddresses,
  mostValues,
  pickValues,
} from "./argument-values.ts";

const longestTyped = 4096;

/** Serves completions for the arguments of prompts and of resource templates. Before the server is connected. */
export function attachCompletions(mcp: McpServer, client: ServedClient): void {
  const { server } = mcp;
  server.registerCapabilities({ completions: {} });

  server.setRequestHandler("completion/complete", async ({ params: { ref, argument, context } }) => {
    const typing: Typing = { argument: argument.name, value: argument.value, others: context?.arguments ?? {} };
    if (typing.value.length > longestTyped) return { completion: { values: [], total: 0, hasMore: false } };
    return ref.type === "ref/prompt" ? forPrompt(client, ref.name, typing) : forTemplate(client, ref.uri, typing);
  });
}

async function forPrompt(client: ServedClient, prompt: string, typing: Typing): Promise<CompleteResult> {
  const own = await completePrompt(client, prompt, typing);
  if (own !== undefined) return toResult(own, typing.value);
  for (const source of client.prompts) {
    const found = await source.complete?.(prompt, { name: typing.argument, value: typing.value });
    if (found !== undefined) return asGiven(found);
  }
  const known = (await listPrompts(client)).map(({ name }) => name);
  if (known.includes(prompt)) return asGiven([]);
  const [nearest] = nearestNames(prompt, known);
  throw refuse(`Prompt not found: ${prompt.slice(0, 200)}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`);
}

async function forTemplate(client: ServedClient, template: string, typing: Typing): Promise<CompleteResult> {
  const own = await completeTemplate(client, template, typing);
  if (own !== undefined) return toResult(own, typing.value);
  for (const source of client.resources) {
    const found = await source.complete?.(template, { name: typing.argument, value: typing.value });
    if (found !== undefined) return asGiven(found);
  }
  for (const source of client.resources) {
    const [templates = [], resources = []] = [
      await source.templates?.(client.caller),
      await source.list?.(client.caller),
    ];
    if (templates.some((one) => one.uriTemplate === template) || resources.some((one) => one.uri === template))
      return asGiven([]);
  }
  throw refuse(`Resource template not found: ${template.slice(0, 200)}`);
}

function toResult(candidates: readonly string[], typed: string): CompleteResult {
  const { values, total, hasMore } = pickValues(candidates, typed);
  return { completion: { values: [...values], total, hasMore } };
}

/** What others complete is theirs to choose. */
function asGiven(values: readonly string[]): CompleteResult {
  return {
    completion: { values: values.slice(0, mostValues), total: values.length, hasMore: values.length > mostValues },
  };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** What is being filled in. */
interface Typing {
  readonly argument: string;
  /** What is typed so far. */
  readonly value: string;
  /** What the other arguments are already. */
  readonly others: Readonly<Record<string, string>>;
}

type Complete = (client: ServedClient, typing: Typing) => readonly string[] | Promise<readonly string[]>;

const toolNames: Complete = (client) => listToolAddresses(client);
const mostRuns = 1000;

/** Prompts that lead to a tool of another name. */
const leadsTo: ReadonlyMap<string, string> = new Map([
  ["improve_tool", "update_tool"],
  ["import_skill", "import"],
]);

/** By `prompt argument`. What has no row here is completed from the tool that the prompt leads to, if that has such an argument. */
const prompts: ReadonlyMap<string, Complete> = new Map<string, Complete>([
  ["improve_tool tool", toolNames],
  [
    `${useSkillName} name`,
    async (client) => {
      const skills = await findUsableSkills(client);
      return skills.map((skill) => skill.name).toSorted();
    },
  ],
  [`${useSkillName} arguments`, completeLastWord],
]);

/** By `template variable`. */
const templates: ReadonlyMap<string, Complete> = new Map<string, Complete>([
  ["kitbag://tools/{address} address", toolNames],
  [
    "kitbag://skills/{name} name",
    (client) =>
      findVisibleSkills(client)
        .map((skill) => skill.name)
        .toSorted(),
  ],
  ["kitbag://runs/{id}{?after} id", (client) => findRunIds(client, mostRuns)],
  ["kitbag://outputs/{handle}{?offset} handle", (client) => findSeenHandles(client)],
  ["kitbag://values/{tool}/{argument}{?value} tool", toolNames],
  ["kitbag://values/{tool}/{argument}{?value} argument", completeArgumentName],
  ["kitbag://values/{tool}/{argument}{?value} value", completeValue],
  [`${skillRoot}/{+path} path`, completeSkillPath],
]);

/** Finds values for an argument of one of Kitbag's prompts; `undefined` for another prompt. */
async function completePrompt(
  client: ServedClient,
  prompt: string,
  typing: Typing,
): Promise<readonly string[] | undefined> {
  if (!listPromptNames(client).includes(prompt)) return undefined;
  const complete = prompts.get(`${prompt} ${typing.argument}`);
  return complete === undefined
    ? fromTool(client, leadsTo.get(prompt) ?? prompt, typing.argument, typing.value)
    : complete(client, typing);
}

/** Finds values for a variable of one of Kitbag's templates; `undefined` for another template. */
async function completeTemplate(
  client: ServedClient,
  template: string,
  typing: Typing,
): Promise<readonly string[] | undefined> {
  const complete = templates.get(`${template} ${typing.argument}`);
  if (complete !== undefined) return complete(client, typing);
  return ownTemplates.has(template) ? [] : undefined;
}

const ownTemplates = new Set(templates.keys().map((key) => key.slice(0, key.lastIndexOf(" "))));

async function fromTool(
  client: ServedClient,
  tool: string,
  argument: string,
  typed: string,
): Promise<readonly string[]> {
  const entry = client.session.getTool(tool);
  return entry === undefined ? [] : completeToolArgument(client, entry, argument, typed);
}

/** Paths may stand anywhere in what is typed: the last word may begin one. */
async function completeLastWord(client: ServedClient, { value }: Typing): Promise<readonly string[]> {
  const start = value.search(/\S*$/u);
  const word = value.slice(start);
  if (word === "") return [];
  const paths = await findPaths(client, word);
  return paths.map((path) => value.slice(0, start) + path);
}

function completeArgumentName(client: ServedClient, { others }: Typing): readonly string[] {
  const entry = createDispatchView(client.session).getTool(others["tool"] ?? "");
  return entry === undefined ? [] : listArguments(entry);
}

function completeValue(
  client: ServedClient,
  { others, value }: Typing,
): readonly string[] | Promise<readonly string[]> {
  const entry = createDispatchView(client.session).getTool(others["tool"] ?? "");
  return entry === undefined ? [] : completeToolArgument(client, entry, others["argument"] ?? "", value);
}

async function completeSkillPath(client: ServedClient): Promise<readonly string[]> {
  const { skills } = await openShelf(client);
  return skills.flatMap(({ files }) => [...files.keys()].map((uri) => uri.slice(skillRoot.length + 1)));
}
