import type { Match } from "./finding.ts";

const archive = /\.(?:zip|7z|rar)\b|\b(?:extract|unzip|archive)\b/iu;
/** How a password is told. */
export const passwordForm = /\bpass(?:word|code|phrase)?\b\s{0,3}(?:is\b|[:=`"'*])/iu;
const address = /https?:\/\//iu;

/**
 * Finds, in a few neighbouring lines, the advice to fetch an archive that only a password opens: it keeps scanners out, and is
 * how most malicious skills bring their program along.
 */
export function findArchiveWithPassword(lines: readonly string[]): Match | undefined {
  const text = lines.join("\n").slice(0, 2000);
  const found = passwordForm.exec(text);
  if (found === null || !archive.test(text) || !address.test(text)) return undefined;
  return {
    code: "archive-with-password",
    risk: "high",
    message: "Tells to fetch an archive that a password protects",
    cure: "Ship the files in the skill",
    start: found.index,
    end: found.index + found[0].length,
  };
}
