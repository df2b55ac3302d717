/** Tools that Kitbag itself has for people and models: by name, because a workspace need not have them all. */

/** The tools that make, change and run tools, in the order in which one needs them. */
export const forgeToolNames = [
  "create_tool",
  "create_from_template",
  "generate_tool",
  "test_tool",
  "update_tool",
  "list_versions",
  "rollback_tool",
  "delete_tool",
  "create_pipeline",
  "create_skill",
  "create_skill_step",
  "delete_skill",
  "suggest_improvements",
  "import",
  "execute_code",
  "tool_state",
] as const;

/** The skills that Kitbag itself has where it serves: the one whose tools make tools, and the one whose tool runs programs. */
export const ownSkillNames = ["forge", "code"] as const;

/** The tools that a model may have beside those of the workspace. */
export const modelToolNames: readonly string[] = [
  "activate_skill",
  "call_tool",
  "call_tools",
  "deactivate_skill",
  "describe_tool",
  "execute_code",
  "list_skills",
  "read_output",
  "read_skill",
  "read_skill_file",
  "search_tools",
];

const all: ReadonlySet<string> = new Set([...forgeToolNames, ...modelToolNames]);

/** Tells whether Kitbag itself has a tool of this name, which code in a sandbox may not call. */
export function isOwnTool(name: string): boolean {
  return all.has(name);
}
