import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

test("the README leads to the list of guides, and that to every guide", () => {
  const listed = findLinks("docs/guide/README.md");

  const missing = globSync("docs/guide/*.md", { cwd: root }).filter(
    (page) => !page.endsWith("README.md") && !listed.includes(page),
  );

  expect(findLinks("README.md")).toContain("docs/guide/README.md");
  expect(missing).toEqual([]);
});

test("the documentation links to nothing that is not there", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "bench/*.md", "skills/*/*.md"], { cwd: root });

  const broken = pages.flatMap((page) => findLinks(page).filter((target) => !existsSync(join(root, target))));

  expect(pages.length).toBeGreaterThan(10);
  expect(broken).toEqual([]);
});

/** The files that a page links to, from the root. */
function findLinks(page: string): string[] {
  const prose = readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```|`[^`\n]*`/gmsu, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/gu)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:[a-z]+:|#)/u.test(target))
    .map((target) => join(dirname(page), target.replace(/#.*$/u, "")));
}
