import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { findAccess } from "./access.ts";

const nothing = { hosts: [], network: [], reads: [], writes: [], programs: [] };

test("findAccess() finds hosts, and leaves out those that only name a format", () => {
  const text = `"https://api.example.com/v1" "http://localhost:8080/x" 'wss://user@b.example.org' "http://www.w3.org/2001/XMLSchema" "https://10.0.0.1:9"`;

  expect(findAccess("python", text).hosts).toEqual([
    "10.0.0.1:9",
    "api.example.com",
    "b.example.org",
    "localhost:8080",
  ]);
});

test("findAccess() finds what Python uses", () => {
  const text = `import requests\nimport urllib.request\nopen("in.txt")\nopen('out.txt', 'w')\nPath("p.md").write_text(x)\nsubprocess.run(["git", "log"])\nos.system("curl x")`;

  expect(findAccess("python", text)).toEqual({
    ...nothing,
    network: ["curl", "requests", "urllib.request"],
    reads: ["in.txt"],
    writes: ["out.txt", "p.md"],
    programs: ["curl", "git"],
  });
});

test("findAccess() believes a reader about modules and programs", () => {
  expect(findAccess("python", "# import requests", { modules: ["httpx", "json"] }).network).toEqual(["httpx"]);
  expect(findAccess("shell", "", { programs: ["jq", "curl"] })).toEqual({
    ...nothing,
    network: ["curl"],
    programs: ["curl", "jq"],
  });
});

test("findAccess() finds what JavaScript uses", () => {
  const text = `import got from "got"; await fetch(url); obj.fetch(x); readFileSync("a.json"); fs.writeFileSync('b.json', x); execSync(\`ffmpeg -i \${x}\`); spawn("/usr/bin/git")`;

  expect(findAccess("javascript", text)).toEqual({
    ...nothing,
    network: ["fetch", "got"],
    reads: ["a.json"],
    writes: ["b.json"],
    programs: ["ffmpeg", "git"],
  });
});

test("findAccess() finds the files that a shell script redirects to and from", () => {
  expect(findAccess("shell", 'sort < in.txt > out.txt 2>/dev/null; cat <<EOF >> "log.txt"')).toMatchObject({
    reads: ["in.txt"],
    writes: ["log.txt", "out.txt"],
  });
});

test("findAccess() takes bounded time for hostile text", () => {
  const started = process.cpuUsage();

  for (const piece of ["http://", "http://a.", "open('", "exec(", "> ", "\n", "import "]) {
    for (const language of ["shell", "python", "javascript", "ruby"] as const)
      findAccess(language, piece.repeat(Math.floor(300_000 / piece.length)));
  }

  expect(cpuMsSince(started)).toBeLessThan(10_000);
});

test("findAccess() takes the mode of a method for no file, and a placeholder of a usage text for no redirection", () => {
  const python = findAccess("python", 'JOURNAL.open("a")\nio.open("kept.txt")\nopen("b.txt", "w")\n');
  const shell = findAccess("shell", '# Usage: x.sh <log-file>\nset -e\necho "x" >out.txt\ncat <in.txt\n');

  expect(python).toMatchObject({ reads: ["kept.txt"], writes: ["b.txt"] });
  expect(shell).toMatchObject({ reads: ["in.txt"], writes: ["out.txt"] });
});

test("findAccess() takes a tag in a shell script for no redirection", () => {
  const text = `sed -i '/<link rel="icon"/d' index.html
cat > page.html <<'EOF'
  <meta charset="utf-8">
  <br />
  <img src="a.png">
EOF
sort < in.txt
wc -l <other.txt
while read -r line; do echo "$line"; done <"third.txt"
`;

  expect(findAccess("shell", text).reads).toEqual(["in.txt", "other.txt", "third.txt"]);
});
