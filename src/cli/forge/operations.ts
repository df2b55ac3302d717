/** An operation of the forge, as the overview knows it: the tool that does it is loaded when it is used. */
export interface ForgeOperation {
  /** The name of the tool that MCP clients get. */
  readonly name: string;
  readonly summary: string;
  /** Flags to type behind the name. */
  readonly example: string;
}

/** Every operation of the forge, in the order of the overview. */
export const forgeOperations: readonly ForgeOperation[] = [
  {
    name: "create_tool",
    summary: "Make a tool out of code; it is live once its examples pass",
    example:
      '--name count-words --language python --code @count.py --description "Counts words" --input-schema @input.json --examples @examples.json',
  },
  {
    name: "update_tool",
    summary: "Make the next version of a tool, through the same gate",
    example: "--name count-words --changes.code @count.py --expected-version 1.0.0",
  },
  { name: "test_tool", summary: "Run the examples of a tool", example: "--name count-words --version 1.0.0" },
  {
    name: "list_versions",
    summary: "List the tools and skills that were made here, or the versions of one",
    example: "--name count-words",
  },
  {
    name: "rollback_tool",
    summary: "Make an earlier version of a tool or a skill live again",
    example: "--name count-words --version 1.0.0",
  },
  { name: "delete_tool", summary: "Take a tool out; --undo brings it back", example: "--name count-words" },
  {
    name: "create_pipeline",
    summary: "Make a tool out of calls of other tools",
    example: '--name report --description "Reports" --steps @steps.json --examples @examples.json',
  },
  {
    name: "create_skill",
    summary: "Make a skill: instructions, with tools of its own; --replace makes its next version",
    example: '--name pdf-text --description "Reads PDFs" --instructions @instructions.md --tools @tools.json',
  },
  { name: "delete_skill", summary: "Take a skill out; --undo brings it back", example: "--name pdf-text" },
  {
    name: "create_from_template",
    summary: "Make a tool or a skill of a template; lists the templates",
    example: "--template csv-report --name sales --parameters.groupBy region",
  },
  {
    name: "create_skill_step",
    summary: "Make a skill step by step",
    example: '--purpose "Greets people. Use it to say hello."',
  },
  {
    name: "generate_tool",
    summary: "Make a tool from a description",
    example: '--description "Counts the words of a text"',
  },
  {
    name: "suggest_improvements",
    summary: "Say what would make a tool better, by how it was called",
    example: "--name count-words",
  },
  {
    name: "import",
    summary: "Fetch skills of others into the project, disabled; kitbag add shows more of them",
    example: "--source owner/repo --skill pdf",
  },
  {
    name: "execute_code",
    summary: "Run a program that calls the tools",
    example: "--code 'return await tools.count_words({ text: \"a b\" })'",
  },
  {
    name: "tool_state",
    summary: "Read and change what a tool keeps from one call to the next",
    example: "--action list --tool count-words",
  },
];
