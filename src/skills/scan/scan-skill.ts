import type { FolderSnapshot } from "../folder/read-folder.ts";
import type { Finding } from "./finding.ts";
import { scanText } from "./scan-text.ts";

/** Looks through the files of a skill for what a careful reader would stop at. */
export function scanSkill({ contents }: Pick<FolderSnapshot, "contents">): Finding[] {
  const decoder = new TextDecoder();
  return [...contents].flatMap(([path, bytes]) => {
    if (bytes.includes(0)) return [];
    const findings = scanText(decoder.decode(bytes), path);
    // Reading a SKILL.md has told about its hidden characters already.
    return /^skill\.md$/iu.test(path) ? findings.filter(({ code }) => code !== "text-hidden") : findings;
  });
}
