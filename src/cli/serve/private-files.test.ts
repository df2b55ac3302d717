/** What one user of a service sees of the files of another, through tools that may read the project. */
import { chmodSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { connectHttp, startHttp } from "../../../test/support/serve-kitbag.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

const permissions = '[permissions]\nread = ["./"]\n';
const search =
  "cat /skill/data.txt; cat plain.txt; grep -rl CANAR[Y] .; cat .kitbag/tools/secret/main.sh; ls -A .kitbag";

test("kitbag serve --http shows no user what another one made, and runs what lies in .kitbag", async () => {
  const project = createProject({ "plain.txt": "plain\n" });
  for (const folder of [dirname(project.folder), project.folder]) chmodSync(folder, 0o755);
  for (const place of ["skills/given", ".kitbag/skills/placed"]) {
    const files = { "kitbag.toml": permissions, "scripts/look.sh": `exec 2>/dev/null\n${search}\ntrue\n` };
    const skill = { ...skillFiles(place), [`${place}/data.txt`]: "own\n" };
    for (const [path, content] of Object.entries(skill)) project.write(path, content);
    for (const [path, content] of Object.entries(files)) project.write(`${place}/${path}`, content);
  }
  await runKitbag(["trust", ".kitbag/skills/placed", "--yes"], { project });
  const [ann = "", bob = ""] = await Promise.all(["ann", "bob"].map(makeToken));
  const server = await startHttp(project, ["skills", "--store", "memory", "--open", "forge"]);
  const [one, two] = await Promise.all([connectHttp(server.url, ann), connectHttp(server.url, bob)]);

  const code = "cat >/dev/null; echo CANARY";
  const draft = { name: "secret", description: "Secret CANARY", language: "bash", code, examples: [{ input: {} }] };
  await one.callTool({ name: "create_tool", arguments: draft });
  const own = await one.callTool({ name: "secret", arguments: {} });
  const version = await one.callTool({ name: "call_tool", arguments: { name: "secret@1.0.0", input: {} } });
  const seen = await Promise.all(
    ["given", "placed"].map(async (skill) => {
      await two.callTool({ name: "activate_skill", arguments: { name: skill } });
      return two.callTool({ name: `${skill}__look`, arguments: {} });
    }),
  );

  expect(existsSync(join(project.folder, ".kitbag/tools/secret"))).toBe(true);
  for (const answer of [own, version]) expect(JSON.stringify(answer.content)).toContain("CANARY");
  for (const answer of seen) expect(answer.content).toEqual([{ type: "text", text: "own\nplain" }]);

  async function makeToken(name: string): Promise<string> {
    const added = await runKitbag(["token", "add", name, "--json"], { project });
    return (JSON.parse(added.stdout) as { readonly token: string }).token;
  }
});
