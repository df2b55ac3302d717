import type { JsonObject } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import type { RecordedCall } from "./read-calls.ts";

/** What would make a tool better, and why. */
export interface Suggestion {
  /** What it is about: `failures`, `input`, `speed`, `output`, `description`, `examples`, `annotations`. */
  readonly about: string;
  /** What was seen. */
  readonly seen: string;
  /** What to do. */
  readonly advice: string;
}

/** From so many calls on, what never happens says something. */
const enoughCalls = 5;
const slowMs = 5000;
const shortWords = 40;

/** Finds what would make a tool better: by its calls, and by what it says about itself. The most important first. */
export function suggestImprovements(tool: Tool, calls: readonly RecordedCall[]): readonly Suggestion[] {
  return [
    ...suggestByFailures(calls),
    ...suggestBySpeed(tool, calls),
    ...suggestByOutput(calls),
    ...suggestByInput(tool, calls),
    ...suggestByWords(tool),
  ];
}

const cures: Readonly<Record<string, string>> = {
  "input-invalid": "Say in the schema what callers get wrong: descriptions, enums, defaults; or take what they give",
  "output-invalid": "Make the code give what the output schema says, or correct the schema",
  "call-timeout": "Make it faster, or raise limits.limitMs",
  "script-failed": "Handle this in the code, and add an example with such an input",
};

function suggestByFailures(calls: readonly RecordedCall[]): readonly Suggestion[] {
  const byCode = Map.groupBy(
    calls.filter(({ failure }) => failure !== undefined),
    ({ failure }) => failure?.code ?? "",
  );
  return [...byCode]
    .toSorted(([, left], [, right]) => right.length - left.length)
    .map(([code, failed]) => ({
      about: "failures",
      seen: `${failed.length} of ${calls.length} calls failed with ${code}; the latest: ${failed[0]?.failure?.message.slice(0, 300) ?? ""}`,
      advice: cures[code] ?? "Handle it in the code, and add an example with such an input",
    }));
}

function suggestBySpeed({ limits }: Tool, calls: readonly RecordedCall[]): readonly Suggestion[] {
  const slow = Math.min(slowMs, (limits.limitMs ?? Number.POSITIVE_INFINITY) / 2);
  const durations = calls.map(({ durationMs }) => durationMs).filter((ms) => ms > slow);
  if (durations.length === 0) return [];
  const seen = `${durations.length} of ${calls.length} calls took more than ${slow} ms, one of them ${Math.round(Math.max(...durations))} ms`;
  const advice = "Do less in one call, keep what does not change in its state, or give limits.limitMs that it can meet";
  return [{ about: "speed", seen, advice }];
}

function suggestByOutput(calls: readonly RecordedCall[]): readonly Suggestion[] {
  const capped = calls.filter((call) => call.capped).length;
  if (capped === 0) return [];
  const advice = "Give less: a parameter for how much, for which fields, or for a page";
  return [{ about: "output", seen: `${capped} of ${calls.length} outputs were too large and were cut`, advice }];
}

function suggestByInput({ inputSchema }: Tool, calls: readonly RecordedCall[]): readonly Suggestion[] {
  const suggestions: Suggestion[] = [];
  const coerced = Map.groupBy(
    calls.flatMap((call) => call.coerced),
    (path) => path,
  );
  for (const [path, times] of coerced) {
    const seen = `${path} was changed in ${times.length} of ${calls.length} calls so that it fits`;
    suggestions.push({
      about: "input",
      seen,
      advice: "Say its type and an example in its description, or take what they give",
    });
  }
  if (calls.length < enoughCalls) return suggestions;
  const required = new Set((inputSchema as { required?: readonly string[] }).required);
  for (const name of Object.keys(propertiesOf(inputSchema as JsonObject))) {
    const values = new Set(
      calls.filter(({ input }) => Object.hasOwn(input, name)).map(({ input }) => JSON.stringify(input[name])),
    );
    if (values.size === 0) {
      const seen = `none of ${calls.length} calls gave ${name}`;
      suggestions.push({
        about: "input",
        seen,
        advice: `Take ${name} out, or say better when it is good for something`,
      });
    } else if (values.size === 1 && required.has(name)) {
      const seen = `all of ${calls.length} calls gave the same ${name}`;
      suggestions.push({
        about: "input",
        seen,
        advice: `Make it the default of ${name}, which then need not be given`,
      });
    }
  }
  return suggestions;
}

function suggestByWords({
  description,
  inputSchema,
  outputSchema,
  examples,
  annotations,
}: Tool): readonly Suggestion[] {
  const mute = Object.entries(propertiesOf(inputSchema as JsonObject))
    .filter(([, schema]) => (schema as JsonObject)["description"] === undefined)
    .map(([name]) => name);
  const all: readonly (Suggestion | false)[] = [
    description.length < shortWords && {
      about: "description",
      seen: `the description has ${description.length} characters`,
      advice: "Say what it does, when to use it and what it gives back: a model chooses by this text",
    },
    mute.length > 0 && {
      about: "input",
      seen: `${mute.join(", ")} ${mute.length === 1 ? "has" : "have"} no description`,
      advice: "Describe each parameter in a few words, with its unit or an example",
    },
    outputSchema === undefined && {
      about: "output",
      seen: "there is no output schema",
      advice: "Give one: then the output is checked, and other tools and code can rely on it",
    },
    ...suggestExamples(examples),
    Object.keys(annotations).length === 0 && {
      about: "annotations",
      seen: "there are no annotations",
      advice:
        "Say readOnly or idempotent if it is: then calls can be repeated, and edits are held against recorded calls",
    },
  ];
  return all.filter((one) => one !== false);
}

function suggestExamples(examples: Tool["examples"]): readonly (Suggestion | false)[] {
  const count = examples?.length ?? 0;
  const open = (examples ?? []).filter(({ output }) => output === undefined).length;
  return [
    count < 2 && {
      about: "examples",
      seen: `there ${count === 1 ? "is 1 example" : "is no example"}`,
      advice: "Add some, one of them at the edge of what it takes: they are run before each change is live",
    },
    count > 0 &&
      open === count && {
        about: "examples",
        seen: "no example has an output",
        advice: "Say what must come: otherwise an example only proves that it does not fail",
      },
  ];
}

function propertiesOf(schema: JsonObject): JsonObject {
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? (properties as JsonObject) : {};
}
