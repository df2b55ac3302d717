import { bashTemplate } from "./bash.ts";
import { hybridTemplate } from "./hybrid.ts";
import { nodeTemplate } from "./node.ts";
import { plainTemplate } from "./plain.ts";
import { pythonTemplate } from "./python.ts";
import type { SkillTemplate } from "./skill-template.ts";

/** Every template there is, the simplest first. */
export const skillTemplates: readonly SkillTemplate[] = [
  plainTemplate,
  pythonTemplate,
  nodeTemplate,
  bashTemplate,
  hybridTemplate,
];
