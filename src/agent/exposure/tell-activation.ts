import type { JsonObject } from "../../core/json.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { ToolDeclaration } from "../../workspace/dispatch/dispatch-view.ts";

/**
 * Has `activate_skill` answer with text: instructions and declarations are text, and cost a quarter more where JSON quotes them.
 * `onOpened` is told which skills were opened.
 */
export function tellActivation(tool: DispatchTool, onOpened?: (skill: string) => void): DispatchTool {
  if (tool.name !== "activate_skill") return tool;
  return {
    ...tool,
    async run(input, options) {
      const outcome = await tool.run(input, options);
      if (outcome.status === "failed") return outcome;
      const activation = outcome.output as unknown as Activation;
      for (const skill of activation.opened) onOpened?.(skill);
      return { ...outcome, output: renderActivation(activation) };
    },
  };
}

interface Activation extends JsonObject {
  readonly instructions: string;
  readonly tools: readonly (JsonObject & ToolDeclaration)[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
  readonly warnings?: readonly string[];
}

const toolsHeading = "Tools, to be called with call_tool:";
const closedHeading = "Closed: ";

/** The declarations in what `activate_skill` has answered, each with the name of its tool. */
export function readActivation(text: string): readonly { readonly name: string; readonly text: string }[] {
  const start = text.lastIndexOf(`${toolsHeading}\n`);
  if (start === -1) return [];
  const [section = ""] = text.slice(start + toolsHeading.length).split(`\n\n${closedHeading}`, 1);
  // Parameters look much like tools, but for the name of the skill.
  return section.split(/\n(?=[a-zA-Z0-9-][\w-]*__[\w-]+: )/u).flatMap((declaration) => {
    const name = /^[\w-]+(?=: )/u.exec(declaration)?.[0];
    return name === undefined ? [] : [{ name, text: declaration }];
  });
}

function renderActivation({ instructions, tools, closed, warnings = [] }: Activation): string {
  const said = new Set<string>();
  const declarations = tools.map((tool) => renderTool(tool, said));
  return [
    instructions,
    ...(tools.length > 0 ? [[toolsHeading, ...declarations].join("\n")] : []),
    ...(closed.length > 0 ? [`${closedHeading}${closed.join(", ")}`] : []),
    ...warnings,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function renderTool({ name, description, input, output }: ToolDeclaration, said: Set<string>): string {
  const gives = output === undefined ? "" : ` => ${output}`;
  return `${name}: ${description}\n${dense(input, said)}${dense(gives, said)}`;
}

/**
 * What a schema looks like is for people: no indentation. Tools of one skill have parameters in common: what was said of one is not said
 * again of the same one of another tool.
 */
function dense(schema: string, said: Set<string>): string {
  return schema
    .split("\n")
    .map((line) => {
      const [, parameter, comment] = /^\s*(.*?);?( \/\/ .*)?$/u.exec(line) ?? [];
      if (comment === undefined) return parameter;
      const isNew = !said.has(`${parameter}${comment}`);
      said.add(`${parameter}${comment}`);
      return isNew ? `${parameter}${comment}` : parameter;
    })
    .join("\n");
}
