import { bashScript } from "./bash.ts";
import { skillDocument, type NewSkill, type SkillTemplate } from "./skill-template.ts";

/** Instructions, a script, and a manifest that says what it may touch. */
export const hybridTemplate: SkillTemplate = {
  name: "hybrid",
  summary: "a script, and a kitbag.toml with permissions and a pipeline",
  firstCall: () => "count-files --folder .",
  render: (skill) => [
    skillDocument(skill, "Needs bash and the usual Unix tools. The tools need Kitbag.", renderBody(skill)),
    bashScript(skill),
    { path: "kitbag.toml", content: manifest },
  ],
};

const renderBody = ({ name }: NewSkill): string => `Say in one or two sentences what this skill is for.

## What to do

1. Count the files with plugin:${name}/count-files.
2. To compare two folders, use plugin:${name}/compare-folders.
3. Tell the user both numbers, and which folder is larger.

What the tools may touch is in kitbag.toml; everything else is denied.
`;

const manifest = `# What this skill may touch. Everything that is not listed is denied.

[skill]
capabilities = ["count files", "compare folders"]

[permissions]
# Files below the working directory.
read = ["."]
# Programs that the scripts start.
run = ["find", "wc"]
# Hosts and environment variables, when they are needed:
# network = ["api.example.com"]
# env = ["EXAMPLE_TOKEN"]

# A tool that is made of other tools: both steps run at the same time.
[[tools]]
name = "compare-folders"
kind = "pipeline"
description = "Counts the files of two folders"
input = { type = "object", properties = { left = { type = "string" }, right = { type = "string" } }, required = ["left", "right"] }
steps = [
  { id = "left", tool = "count-files", args = { folder = "$input.left" } },
  { id = "right", tool = "count-files", args = { folder = "$input.right" } },
]
`;
