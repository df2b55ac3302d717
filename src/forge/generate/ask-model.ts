import type { Model, ModelPrompt } from "../../models/model.ts";
import { codeDraftSchema } from "../drafts/draft-schema.ts";
import type { Forge, ForgeAnswer, TrialOptions } from "../forge-interface.ts";
import type { CodeDraft } from "../drafts/tool-draft.ts";

/** What a tool is to be. */
export interface GenerateWish extends TrialOptions {
  readonly description: string;
  readonly name?: string;
}

/** Answers a prompt of texts: by a model, or by an MCP client that has one. */
export type WriteText = (prompt: ModelPrompt, signal: AbortSignal | undefined) => Promise<string>;

/** How often a model may repair what it wrote. */
const mostAttempts = 3;

const longestAnswer = 500_000;

const task = `You write one tool for an AI agent as a JSON object, and answer with that object alone.
It has "name" (lower-case words with dashes), "description" (what it does and when to use it), "language" (python unless told otherwise), "code", "input" and "output" (JSON Schemas of objects), "annotations", "permissions" (only what it cannot do without; nothing by default) and "examples".
The program reads one JSON object from standard input and prints one JSON value that fits "output". A failure is a non-zero exit code with the reason on stderr. Only the standard library is there.
Give at least two examples with the exact output, one of them at the edge of what it takes. They are run in a sandbox without network; if it needs the network, give it a parameter "dryRun" and examples that use it.`;

/** Has a model write a tool, and repair the problems that the gate found, up to three times. Returns the last result. */
export async function askModel(forge: Forge, write: WriteText, wish: GenerateWish): Promise<ForgeAnswer> {
  const { description, name, ...trial } = wish;
  const prompt: ModelPrompt = [
    { role: "system", content: task },
    { role: "user", content: [{ type: "text", text: toQuestion(description, name) }] },
  ];
  for (let attempt = 1; ; attempt += 1) {
    const text = await write([...prompt], trial.signal);
    const draft = readDraft(text, name);
    const answer = await forge.createTool(draft, trial);
    if (answer.status !== "refused" || attempt === mostAttempts) return answer;
    // No draft is better than another where none is allowed.
    if (answer.error.code === "quota-reached") return answer;
    prompt.push(
      { role: "assistant", content: [{ type: "text", text: text.slice(0, longestAnswer) }] },
      {
        role: "user",
        content: [
          { type: "text", text: `${answer.error.message}\nRepair it, and answer with the whole object again.` },
        ],
      },
    );
  }
}

function toQuestion(description: string, name: string | undefined): string {
  return `The tool${name === undefined ? "" : ` is called ${name} and`} does this: ${description}`;
}

/** Has a model write the answers. */
export function toWriter(model: Model): WriteText {
  return async (prompt, signal) => {
    const { content } = await model.doGenerate({
      prompt,
      responseFormat: { type: "json", name: "tool", schema: codeDraftSchema },
      ...(signal !== undefined && { abortSignal: signal }),
    });
    return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  };
}

/** The object in an answer, also if prose or a fence surrounds it. An unreadable answer becomes a draft that the forge refuses. */
function readDraft(text: string, name: string | undefined): CodeDraft {
  const json = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  try {
    const draft = JSON.parse(json) as CodeDraft;
    return name === undefined ? draft : { ...draft, name };
  } catch {
    return { name: name ?? "generated", description: "" } as CodeDraft;
  }
}
