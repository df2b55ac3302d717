import { toPlaces } from "../../forge/drafts/languages.ts";
import { isSkillDraft, type CodeDraft, type SkillDraft, type ToolDraft } from "../../forge/tool-draft.ts";

/** All that a draft consists of, as texts by path: its code and files, and what it says about itself as JSON. */
export function toDraftTexts(draft: ToolDraft | SkillDraft): ReadonlyMap<string, string> {
  return new Map(isSkillDraft(draft) ? toSkillTexts(draft) : toToolTexts(draft));
}

type Texts = readonly (readonly [path: string, text: string])[];

function toToolTexts(draft: ToolDraft): Texts {
  if ("steps" in draft) return [["draft.json", showJson(draft)]];
  const { code, files = {}, ...head } = draft;
  return [["draft.json", showJson(head)], [toPlaces(draft).codeFile, code], ...Object.entries(files)];
}

function toSkillTexts({ instructions, tools = [], files = {}, ...head }: SkillDraft): Texts {
  const ofTool = (tool: CodeDraft): Texts =>
    toToolTexts(tool).map(([path, text]) => [`tools/${tool.name}/${path}`, text]);
  return [
    ["draft.json", showJson(head)],
    ["SKILL.md", instructions],
    ...tools.flatMap(ofTool),
    ...Object.entries(files),
  ];
}

function showJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
