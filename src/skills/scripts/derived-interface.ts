import type { StdinFact } from "./arguments/argv-facts.ts";
import type { CommandLine, Parameter } from "./parameter.ts";
import type { Confidence } from "./script-interface.ts";
import { toValueSchema } from "./value-schema.ts";

/** One command of a script, as it was read. */
export interface DerivedCommand extends CommandLine {
  /** What the script itself says about this command; not set if it says nothing. */
  readonly description?: string;
}

/** How a script is called, as it was read from its declaration, its usage text or its code. */
export interface DerivedInterface {
  /** One with no words for a script without sub-commands. */
  readonly commands: readonly DerivedCommand[];
  readonly confidence: Confidence;
  readonly source: string;
  /** What the declaration says about the whole script. */
  readonly description?: string;
}

/** The interface of a script that takes nothing. */
export function noArguments(source = "takes no arguments"): DerivedInterface {
  return { commands: [{ parameters: [] }], confidence: "declared", source };
}

/** The interface of a script of which only is known that it takes words. */
export function opaqueArguments(source = "unknown arguments"): DerivedInterface {
  const schema = { type: "array", items: { type: "string" }, description: "The script's arguments, word by word" };
  const part = { kind: "positional", property: "args", many: true } as const;
  return {
    commands: [{ parameters: [{ part, schema, required: false }], open: true }],
    confidence: "opaque",
    source,
  };
}

/** The parameter for standard input, as far as it is one value. */
export function toInputParameter({ as, isList }: StdinFact, required: boolean): Parameter {
  if (as === "text") {
    const schema = toValueSchema({ type: "string", description: "The text for the script's standard input" });
    return { part: { kind: "stdin", property: "stdin", as: "text" }, schema, required };
  }
  const description = "The JSON for the script's standard input";
  if (isList === true) {
    return { part: { kind: "stdin", property: "stdin", as: "json" }, schema: { type: "array", description }, required };
  }
  // A text is handed on as it is: it is the JSON, or the script reads another kind of text.
  const schema = { type: ["string", "object", "array"], description: `${description}, as a value or as text` };
  return { part: { kind: "stdin", property: "stdin", as: "text" }, schema, required };
}

/** The interface of a script that reads standard input beside the arguments that it declares. */
export function withInput(derived: DerivedInterface, input: StdinFact): DerivedInterface {
  const commands = derived.commands.map((command) => ({
    ...command,
    parameters: [...command.parameters, toInputParameter(input, command.parameters.length === 0)],
  }));
  return { ...derived, commands };
}

/** The same interface for a script of which not all could be read. */
export function asOpen(derived: DerivedInterface): DerivedInterface {
  return { ...derived, commands: derived.commands.map((command) => ({ ...command, open: true })) };
}
