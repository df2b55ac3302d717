import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { McpClientAccess } from "../../mcp/server/calls/ask-client.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { isYes, type Terminal } from "../terminal.ts";

/**
 * Puts the forms of other MCP servers to the person at the terminal, who is told which server asks, and may say no first. There is no model
 * at a terminal, so it answers nothing else.
 */
export function createTerminalAccess(
  terminal: Pick<Terminal, "ask" | "canAsk" | "note">,
): Pick<McpClientAccess, "ask" | "can"> {
  return {
    can: (what) => what === "elicitation" && terminal.canAsk,
    async ask(questions) {
      const answers: Record<string, Readonly<Record<string, unknown>>> = {};
      for (const [key, { method, params }] of Object.entries(questions)) {
        if (method !== "elicitation/create") throw new Error("A terminal answers nothing but forms");
        answers[key] = await askForm(terminal, params as unknown as JsonObject);
      }
      return answers;
    },
  };
}

async function askForm(terminal: Pick<Terminal, "ask" | "note">, { message, requestedSchema }: JsonObject) {
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : ({} as JsonObject);
  const needed = Array.isArray(required) ? required : [];
  terminal.note(`${toPrintable(typeof message === "string" ? message : "")}\n`);
  const isWilling = await terminal.ask("Answer it? [y/N] ", { dropTyped: true });
  if (!isYes(isWilling)) return { action: isWilling === undefined ? "cancel" : "decline" };
  const content: Record<string, JsonValue> = {};
  for (const [name, field] of Object.entries(isRecord(properties) ? properties : {})) {
    const answer = await askField(terminal, {
      name,
      field: isRecord(field) ? field : {},
      isNeeded: needed.includes(name),
    });
    if (answer === undefined) return { action: "cancel" };
    if (answer.value !== undefined) content[name] = answer.value;
  }
  return { action: "accept", content };
}

interface Field {
  readonly name: string;
  readonly field: JsonObject;
  readonly isNeeded: boolean;
}

/** One field, asked again until it is filled in rightly; nothing if the person ends the input. */
async function askField(
  terminal: Pick<Terminal, "ask" | "note">,
  { name, field, isNeeded }: Field,
): Promise<{ readonly value?: JsonValue } | undefined> {
  const { title, description } = field;
  const label = typeof title === "string" ? title : name;
  const about = [label, typeof description === "string" ? `(${description})` : "", toHint(field)];
  const question = `${toPrintableLine(about.filter((part) => part !== "").join(" "))}: `;
  for (;;) {
    const line = await terminal.ask(question);
    if (line === undefined) return undefined;
    if (line.trim() === "" && !isNeeded) return {};
    const value = parseField(line.trim(), field);
    if (value !== undefined) return { value };
    terminal.note("That does not fit; press Ctrl-D to cancel.\n");
  }
}

function toHint({ type, enum: choices, oneOf }: JsonObject): string {
  const titled = Array.isArray(oneOf) ? oneOf.flatMap((one) => (isRecord(one) ? [one["const"]] : [])) : undefined;
  const known = Array.isArray(choices) ? choices : titled;
  if (known !== undefined) return `[${known.join(", ")}]`;
  if (type === "boolean") return "[yes, no]";
  return type === "array" ? "[separated by commas]" : "";
}

/** What was typed, as the field wants it; nothing if it does not fit. */
function parseField(text: string, field: JsonObject): JsonValue | undefined {
  const value = toType(text, field["type"]);
  return value === undefined || checkStrictly(field, value).length > 0 ? undefined : value;
}

function toType(text: string, type: JsonValue | undefined): JsonValue | undefined {
  if (text === "") return undefined;
  if (type === "boolean") {
    if (/^(?:y|yes|true)$/iu.test(text)) return true;
    return /^(?:n|no|false)$/iu.test(text) ? false : undefined;
  }
  if (type === "array") return text.split(",").map((part) => part.trim());
  if (type !== "number" && type !== "integer") return text;
  return Number.isFinite(Number(text)) ? Number(text) : undefined;
}
