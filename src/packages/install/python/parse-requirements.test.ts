import { expect, test } from "vitest";

import { renderRequirement, parseRequirements } from "./parse-requirement.ts";

const hash = `sha256:${"a".repeat(64)}`;

test("parseRequirements() reads names, comments, continued lines, hashes and files of other systems", () => {
  const text = `\u{FEFF}# all of it\r\nrequests>=2 # why\r\n\r\na==1 \\\r\n  --hash=${hash} \\\r\n  --hash ${hash}\r\n--prefer-binary\r\n`;

  const { requirements } = parse({ "requirements.txt": text });

  expect(requirements).toEqual(["requests>=2", `a==1 --hash=${hash} --hash=${hash}`]);
});

test("parseRequirements() reads the files that a file includes, once each, and constraints apart", () => {
  const files = {
    "scripts/requirements.txt": "-r ../base.txt\n--requirement=more/x.txt\nown",
    "base.txt": "base\n-c limits.txt",
    "scripts/more/x.txt": "x\n-r ../requirements.txt\n--constraint ../../limits.txt",
    "limits.txt": "base<9",
  };

  const found = parse(files, "scripts/requirements.txt");

  expect(found).toEqual({ requirements: ["base", "x", "own"], constraints: ["base<9"] });
});

test.for([
  "--index-url https://evil.example/simple",
  "-i https://evil.example/simple",
  "--extra-index-url https://evil.example/simple",
  "--extra-index-url=https://evil.example/simple",
  "-f https://evil.example",
  "--find-links ./wheels",
  "--trusted-host evil.example",
  "--no-index",
])("parseRequirements() refuses %s: where packages come from is for the operator to say", (line) => {
  expect(() => parse({ "requirements.txt": `requests\n${line}\n` })).toThrow("is for the operator to say");
});

test.for([
  ["-e .", "only from the package index"],
  ["--editable=git+https://evil.example/x", "only from the package index"],
  ["--global-option x", "not supported"],
  ["a --config-settings x=y", "only --hash"],
  ["-r https://evil.example/r.txt", "not in the skill's folder"],
  ["-r /etc/passwd", "not in the skill's folder"],
  ["-r ../../outside.txt", "not in the skill's folder"],
  ["-r missing.txt", "not in the skill's folder"],
  ["a @ file:///etc/passwd", "an address or a path"],
])("parseRequirements() refuses %s", ([line = "", reason]) => {
  expect(() => parse({ "requirements.txt": line })).toThrow(reason);
});

test("parseRequirements() stops at files that include too many others", () => {
  const read = (path: string): string => `-r ${Number(/\d+/u.exec(path)?.[0] ?? 0) + 1}.txt`;

  expect(() => parseRequirements("0.txt", read)).toThrow("more than 50 files");
});

function parse(files: Readonly<Record<string, string>>, file = "requirements.txt"): Record<string, string[]> {
  const byPath = new Map(Object.entries(files));
  const { requirements, constraints } = parseRequirements(file, (path) => byPath.get(path));
  return { requirements: requirements.map(renderRequirement), constraints: constraints.map(renderRequirement) };
}
