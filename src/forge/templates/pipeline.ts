import { type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface Pipeline {
  readonly tools: readonly string[];
  readonly mode: "chain" | "parallel";
  readonly argument: string;
  readonly field: string;
  readonly example: string;
}

const word = { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" };

/** A tool that calls other tools, one after the other or all at once. */
export const pipeline: ToolTemplate = {
  name: "pipeline",
  makes: "tool",
  description:
    "A pipeline of tools that are there: a chain in which each gets what the one before gave, or several in parallel with the same input; combine tools into a workflow",
  parameters: closed(
    {
      tools: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 200 },
        minItems: 1,
        maxItems: 20,
        description: "The addresses of the tools, in order; they must be there",
      },
      mode: { enum: ["chain", "parallel"], default: "chain" },
      argument: { ...word, default: "text", description: "The parameter of each tool that takes the text" },
      field: {
        type: "string",
        pattern: "^([A-Za-z_][A-Za-z0-9_]{0,63})?$",
        default: "",
        description: "The field of an output that the next tool gets; empty: the whole output",
      },
      example: {
        type: "string",
        maxLength: 10_000,
        default: "one two three",
        description: "A text that it is tried with",
      },
    },
    ["tools"],
  ),
  toDraft({ name, description, values }) {
    const { tools, mode, argument, field, example } = values as unknown as Pipeline;
    const part = field === "" ? "" : `.${field}`;
    const steps = tools.map((tool, index) => {
      const from = mode === "parallel" || index === 0 ? `$input.${argument}` : `$step${index}${part}`;
      return { id: `step${index + 1}`, tool, args: { [argument]: from } };
    });
    const results = Object.fromEntries(tools.map((_, index) => [`step${index + 1}`, `$step${index + 1}${part}`]));
    return {
      name,
      description: description ?? `Calls ${tools.join(mode === "chain" ? ", then " : " and ")}.`,
      steps,
      ...(mode === "parallel" && { result: results }),
      input: closed({ [argument]: { type: "string" } }, [argument]),
      examples: [{ input: { [argument]: example } }],
    };
  },
};
