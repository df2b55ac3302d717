import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadSkills } from "./load-skills.ts";

test("toScriptTool() hands on the packages that the manifest lists", async (context) => {
  needProgram(context, "python3");
  const folder = createFolder({
    "dice/SKILL.md": "---\nname: dice\ndescription: Rolls dice\n---\n# dice\n",
    "dice/kitbag.toml": '[dependencies]\npython = ["requests>=2"]\n',
    "dice/scripts/roll.py": "import argparse\nargparse.ArgumentParser().parse_args()\n",
  });

  const { reports } = await loadSkills({ directories: [folder] });

  const code = reports[0]?.skill?.tools[0]?.code as ScriptCode;
  expect(code.dependencies).toEqual({ python: ["requests>=2"] });
});

test("tools of scripts and of modules have the limits and the cache that their manifests say, and nobody can change them", async () => {
  const folder = createFolder({
    "rates/SKILL.md": "---\nname: rates\ndescription: Knows rates\n---\n# rates\n",
    "rates/kitbag.toml":
      '[[tools]]\nname = "convert"\nkind = "wasm"\nfile = "convert.wasm"\nlimitMs = 500\nretries = 1\nannotations = { idempotent = true }\n' +
      'rate = { calls = 9, inMs = 1000 }\ncache = { ttlMs = 60000, tags = ["money"] }\n',
    "rates/convert.wasm": "not looked into yet",
    "rates/scripts/fetch.py": "import argparse\nargparse.ArgumentParser().parse_args()\n",
    "rates/scripts/manifest.yml":
      "tools:\n  - script: fetch.py\n    annotations: { readOnly: true }\n    timeout: 5s\n    retries: 2\n" +
      "    rate: { calls: 100, per: 1m, burst: 10 }\n    cache: { for: 10m, scope: everybody }\n",
  });

  const { reports } = await loadSkills({ directories: [folder] });

  const tools = reports[0]?.skill?.tools ?? [];
  expect(tools.map(({ name, limits, cache }) => ({ name, limits, cache }))).toEqual([
    {
      name: "convert",
      limits: { limitMs: 500, retries: 1, rate: { calls: 9, inMs: 1000 } },
      cache: { ttlMs: 60_000, tags: ["money"] },
    },
    {
      name: "fetch",
      limits: { limitMs: 5000, retries: 2, rate: { calls: 100, inMs: 60_000, burst: 10 } },
      cache: { ttlMs: 600_000, scope: "everybody" },
    },
  ]);
  for (const { limits, cache } of tools)
    expect([limits, limits.rate, cache].every((part) => Object.isFrozen(part))).toBe(true);
});
