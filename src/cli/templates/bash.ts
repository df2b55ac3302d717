import { skillDocument, type NewSkill, type SkillTemplate, type TemplateFile } from "./skill-template.ts";

/** A shell script with flags. */
export const bashTemplate: SkillTemplate = {
  name: "bash",
  summary: "a shell script, its parameters read from its flags and its usage text",
  firstCall: () => "count-files --folder .",
  render: (skill) => [
    skillDocument(skill, "Needs bash and the usual Unix tools.", body),
    bashScript(skill),
    { path: "evals/files/src/a.ts", content: "" },
  ],
};

const body = `Say in one or two sentences what this skill is for.

## What to do

Run the script and quote its answer, which is JSON:

\`\`\`sh
bash scripts/count-files.sh --folder src
bash scripts/count-files.sh --folder src --name '*.ts'
\`\`\`

Exit code 1 means that the folder cannot be read, exit code 2 that the script was used wrongly; the message on standard error says why.
`;

/** A script that counts files, for templates. */
export function bashScript({ name }: NewSkill): TemplateFile {
  const content = `#!/usr/bin/env bash
# Count the files of a folder. Replace this with what ${name} does.
#
# Usage: count-files.sh --folder <path> [--name <pattern>] [--hidden]
#
#   --folder <path>   where to count
#   --name <pattern>  only files like this, such as *.ts (default: all)
#   --hidden          also count what is hidden
set -euo pipefail

fail() {
  printf 'count-files: %s\\n' "$1" >&2
  exit "\${2:-1}"
}

folder=
name='*'
hidden=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --folder) folder=\${2:?--folder needs a path}; shift 2 ;;
    --name) name=\${2:?--name needs a pattern}; shift 2 ;;
    --hidden) hidden=true; shift ;;
    *) fail "unknown argument $1" 2 ;;
  esac
done
[[ -n $folder ]] || fail "--folder is missing" 2
[[ -d $folder ]] || fail "there is no folder $folder"

if [[ $hidden == true ]]; then
  count=$(find "$folder" -type f -name "$name" | wc -l)
else
  count=$(find "$folder" -not -path "$folder/*/.*" -not -path "$folder/.*" -type f -name "$name" | wc -l)
fi
printf '{ "files": %d }\\n' "$count"
`;
  return { path: "scripts/count-files.sh", content, executable: true };
}
