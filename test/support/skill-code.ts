import { defineSkill } from "../../src/core/define-skill.ts";
import { defineTool } from "../../src/core/define-tool.ts";

/**
 * Code of a skill that Node loads by itself while a test runs, with `defineSkill` and `defineTool` of that test. An `import` of
 * Kitbag would load all of it a second time, and what is run there would be counted for the wrong lines.
 */
export function skillCode(text: string): string {
  Reflect.set(globalThis, "kitbagOfTest", { defineSkill, defineTool });
  return `const { defineSkill, defineTool } = globalThis.kitbagOfTest;\n${text}`;
}
