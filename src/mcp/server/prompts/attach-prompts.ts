import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type McpServer,
  type Prompt,
} from "@modelcontextprotocol/server";

import { isKitbagError } from "../../../core/errors.ts";
import { nearestNames } from "../../../core/nearest.ts";
import { listTtlMs, toCacheFields } from "../resources/attach-resources.ts";
import { pageItems } from "../resources/page-items.ts";
import type { ServedClient } from "../client.ts";
import { createPromptWords } from "../shown-tools.ts";
import { findUsableSkills, hasUsableSkills, renderSkillUse, useSkillName } from "./use-skill.ts";
import { findWorkflows, type WorkflowPrompt } from "./workflow-prompts.ts";

const longestValue = 65_536;

type Values = Readonly<Record<string, string>>;

const useSkillPrompt = {
  name: useSkillName,
  title: "Use a skill",
  description: "The instructions of a skill, with what you want of it filled in",
  arguments: [
    { name: "name", description: "The name of the skill", required: true },
    { name: "arguments", description: "What you want of it", required: false },
  ],
} as const;

/** Serves prompts to a client: the workflows whose tools exist, and the host's own prompts. Call it before the server is connected. */
export function attachPrompts(mcp: McpServer, client: ServedClient): void {
  const { server } = mcp;
  server.registerCapabilities({ prompts: { listChanged: true } });

  server.setRequestHandler("prompts/list", async ({ params }) => {
    const prompts = await listPrompts(client);
    const { items, nextCursor } = pageItems(prompts, params?.cursor, { keyOf: (prompt) => prompt.name });
    return {
      prompts: [...items],
      ...(nextCursor !== undefined && { nextCursor }),
      ...toCacheFields(client, listTtlMs),
    };
  });
  server.setRequestHandler("prompts/get", async ({ params: { name, arguments: values = {} } }, context) => {
    const own = await getOwn(client, name, values, context.mcpReq.signal);
    if (own !== undefined) return own;
    for (const source of client.prompts) {
      const found = await source.get(name, values, context, client.caller).catch(toRefusal);
      if (found !== undefined) return found;
    }
    throw refuse(`Prompt not found: ${name.slice(0, 200)}`);
  });
}

/** The prompts of a client, in the order of their names. */
export async function listPrompts(client: ServedClient): Promise<readonly Prompt[]> {
  const own: Prompt[] = findWorkflows(client).map(toPrompt);
  const skills: Prompt[] = hasUsableSkills(client) ? [toPrompt(useSkillPrompt)] : [];
  const others = (await Promise.all(client.prompts.map(async (source) => source.list(client.caller)))).flat();
  const names = new Set([...own, ...skills].map((prompt) => prompt.name));
  const all = [...own, ...skills, ...others.filter((prompt) => !names.has(prompt.name))];
  return all.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function toPrompt(prompt: Pick<WorkflowPrompt, "name" | "title" | "description" | "arguments">): Prompt {
  const { name, title, description } = prompt;
  return { name, title, description, arguments: prompt.arguments.map((argument) => ({ ...argument })) };
}

async function getOwn(
  client: ServedClient,
  name: string,
  values: Values,
  signal: AbortSignal,
): Promise<GetPromptResult | undefined> {
  if (name === useSkillName && hasUsableSkills(client)) return useSkill(client, values, signal);
  const workflow = findWorkflows(client).find((one) => one.name === name);
  if (workflow === undefined) return undefined;
  checkValues(workflow, values);
  const words = createPromptWords(client);
  const closed = new Set(workflow.needs.map(words.findClosed).filter((skill) => skill !== undefined));
  const first = [...closed].map(
    (skill) => `Open the skill ${skill} with \`activate_skill\` first: it has the tools for this.\n\n`,
  );
  return toResult(workflow.description, first.join("") + workflow.render(withoutEmpty(values), words, client));
}

async function useSkill(client: ServedClient, values: Values, signal: AbortSignal): Promise<GetPromptResult> {
  checkValues(useSkillPrompt, values);
  const usable = await findUsableSkills(client);
  const name = Object.hasOwn(values, "name") ? values["name"] : undefined;
  const skill = usable.find((one) => one.name === name);
  if (skill === undefined) {
    const known = usable.map((one) => one.name);
    const [nearest] = nearestNames(name ?? "", known);
    throw refuse(
      `No skill that you may use is called "${name}"${nearest === undefined ? "" : `: did you mean "${nearest}"?`}`,
    );
  }
  try {
    const text = await renderSkillUse(client, skill, { arguments: values["arguments"] ?? "", signal });
    return toResult(skill.description, text);
  } catch (cause) {
    return toRefusal(cause);
  }
}

function toRefusal(cause: unknown): never {
  throw isKitbagError(cause) ? refuse(cause.message) : cause;
}

function toResult(description: string, text: string): GetPromptResult {
  return { description, messages: [{ role: "user", content: { type: "text", text } }] };
}

/** @throws {ProtocolError} `InvalidParams` if an argument is missing, unknown or too long. */
function checkValues(prompt: Pick<WorkflowPrompt, "name" | "arguments">, values: Values): void {
  for (const { name, required } of prompt.arguments) {
    if (required && !(Object.hasOwn(values, name) && values[name] !== "")) {
      throw refuse(`The prompt ${prompt.name} needs the argument "${name}"`);
    }
  }
  for (const [name, value] of Object.entries(values)) {
    if (!prompt.arguments.some((argument) => argument.name === name)) {
      const known = prompt.arguments.map((argument) => argument.name).join(", ");
      throw refuse(`The prompt ${prompt.name} has no argument "${name.slice(0, 100)}": it has ${known}`);
    }
    if (value.length > longestValue) {
      throw refuse(`The argument "${name}" is longer than ${longestValue} characters`);
    }
  }
}

/** Clients send a field that was not filled in as an empty text. */
function withoutEmpty(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
