import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Permissions, Tool } from "kitbag";
import { afterAll, expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createScriptTool, writeFolder } from "../../test/support/run-script.ts";
import type { ScriptCode } from "../core/script-code.ts";
import { findSandbox, type FoundSandbox } from "../sandbox/find-sandbox.ts";
import { defaultLimits, type Profile } from "../sandbox/sandbox.ts";
import type { Dependencies } from "../packages/install/create-dependencies.ts";
import { createToolProfiles, type ProfileOptions, type ToolProfiles } from "./tool-profiles.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("find() gives a tool that was granted nothing its own bytes alone", async () => {
  const { profiles } = await open({ places: { directory: "/data/project" } });

  const profile = await profiles.find(toTool({ "a.sh": "echo" }));

  expect(profile).toEqual({
    mounts: [{ source: profile.mounts[0]?.source, target: "/skill" }],
    sealed: [],
    environment: {},
    programs: [],
    directory: "/tmp",
    limits: defaultLimits,
  });
  expect(readAll(profile)).toEqual({ "a.sh": "echo" });
});

test("find() shows a tool the files that were checked, and none beside them", async () => {
  const { profiles } = await open();
  const tool = toTool({ "a.sh": "echo", "lib/b.sh": "b", "secret.txt": "secret" });
  const code = tool.code as ScriptCode;
  const files = ["a.sh", "lib/b.sh"].map((path) => describeFile(code.directory, path));

  const profile = await profiles.find({ ...tool, code: { ...code, folder: { ...code, files } } as ScriptCode });

  expect(readAll(profile)).toEqual({ "a.sh": "echo", "lib/b.sh": "b" });
});

test("find() gives the same profile for the same tool, also to those who ask at once", async () => {
  const { profiles } = await open();
  const tool = toTool({ "a.sh": "echo" });

  const [one, other] = await Promise.all([profiles.find(tool), profiles.find(tool)]);

  expect(one).toBe(other);
  expect(await profiles.find(tool)).toBe(one);
});

test("find() refuses a script that was changed, and finds it again when it is as it was", async () => {
  const { profiles } = await open();
  const tool = toTool({ "a.sh": "echo" });
  const file = join((tool.code as ScriptCode).directory, "a.sh");

  writeFileSync(file, "evil");
  const changed = profiles.find(tool);

  await expect(changed).rejects.toMatchObject({ code: "script-changed" });
  writeFileSync(file, "echo");
  await expect(profiles.find(tool)).resolves.toMatchObject({ directory: "/tmp" });
});

test("find() takes over what was granted, and the limits that somebody set", async () => {
  const { profiles, directory } = await open({ limits: { processes: 3 } });
  const tool = toTool({ "a.sh": "echo" }, { write: ["./out"], run: ["git"] });

  const { mounts, ...rest } = await profiles.find(tool);

  expect(mounts.slice(1)).toEqual([
    { source: join(directory, "out"), target: join(directory, "out"), granted: true, write: true },
  ]);
  expect(rest).toMatchObject({ programs: ["git"], directory, limits: { ...defaultLimits, processes: 3 } });
});

test("find() refuses what is ours, whatever was granted", async () => {
  const home = writeFolder({ "secrets.json": "{}" });
  const { profiles } = await open({ places: { directory: home, protected: [home] } });

  const found = profiles.find(toTool({ "a.sh": "echo" }, { read: ["./secrets.json"] }));

  await expect(found).rejects.toMatchObject({ code: "permission-refused" });
});

test("find() asks for packages only where there can be any", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const asked: string[] = [];
  const dependencies: Dependencies = {
    async prepare({ language }) {
      asked.push(language);
      const source = writeFolder({});
      return {
        mounts: [{ source, target: "/opt/packages/python" }],
        environment: { PYTHONPATH: "/opt/packages/python" },
      };
    },
  };
  const { profiles } = await open({ dependencies });

  await profiles.find(toTool({ "a.sh": "echo" }));
  const profile = await profiles.find(toTool({ "a.py": "" }));

  expect(asked).toEqual(["python"]);
  expect(profile.mounts.map(({ target }) => target)).toEqual(["/skill", "/opt/packages/python"]);
  expect(profile.environment).toEqual({ PYTHONPATH: "/opt/packages/python" });
});

test("find() of one caller goes on when another gives up", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>();
  const dependencies: Dependencies = {
    async prepare(_request, signal) {
      noteAsked();
      const gone = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
      await Promise.race([mayGoOn, gone]);
      return { mounts: [], environment: {} };
    },
  };
  const { profiles } = await open({ dependencies });
  const [tool, stop] = [toTool({ "a.py": "" }), new AbortController()];

  const given = profiles.find(tool, { signal: stop.signal }).catch((cause: unknown) => cause);
  const kept = profiles.find(tool);
  await asked;
  stop.abort(new Error("enough"));

  expect(await given).toMatchObject({ message: "enough" });
  goOn();
  await expect(kept).resolves.toMatchObject({ directory: "/tmp" });
});

test("find() opens one way out for a tool that may use the network, and close() closes it", async () => {
  const { profiles } = await open();
  const tool = toTool({ "a.sh": "echo" }, { network: ["example.com"] });

  const [profile, again] = await Promise.all([profiles.find(tool), profiles.find(tool)]);
  const other = await profiles.find(toTool({ "b.sh": "echo" }, { network: ["example.com"] }));
  const wasOpen = existsSync(profile.egress ?? "");
  await profiles.close();

  expect([again.egress === profile.egress, other.egress === profile.egress, wasOpen]).toEqual([true, false, true]);
  expect(profile.environment).toHaveProperty("HTTPS_PROXY");
  expect([profile.egress, other.egress].map((socket) => existsSync(socket ?? ""))).toEqual([false, false]);
});

test("close() waits for profiles that are being made, and closes their ways out", async () => {
  const { profiles } = await open();
  const making = profiles.find(toTool({ "a.sh": "echo" }, { network: ["example.com"] }));

  await profiles.close();

  const { egress = "" } = await making;
  expect([egress === "", existsSync(egress)]).toEqual([false, false]);
});

function toTool(files: Readonly<Record<string, string>>, permissions: Permissions = {}): Tool {
  return { ...createScriptTool(files), permissions };
}

async function open(options: Partial<ProfileOptions> = {}): Promise<{ profiles: ToolProfiles; directory: string }> {
  opened ??= findSandbox();
  const found = await opened;
  // Snapshots are numbered, so each maker of profiles needs a folder of its own.
  const sandbox = { ...found, area: { ...found.area, own: writeFolder({}) } };
  const directory = writeFolder({});
  const dependencies: Dependencies = { prepare: async () => ({ mounts: [], environment: {} }) };
  const profiles = createToolProfiles({ sandbox, places: { directory }, dependencies, ...options });
  onTestFinished(() => profiles.close());
  return { profiles, directory };
}

function describeFile(directory: string, path: string): { path: string; digest: string; bytes: number } {
  const bytes = readFileSync(join(directory, path));
  return { path, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes: bytes.length };
}

/** The files that a tool sees as its skill. */
function readAll({ mounts }: Profile): Record<string, string> {
  const folder = mounts.find(({ target }) => target === "/skill")?.source ?? "";
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = paths.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    files.toSorted().map((file) => [file.slice(folder.length + 1), readFileSync(file, "utf8")]),
  );
}
