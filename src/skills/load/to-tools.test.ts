import { expect, test } from "vitest";

import type { ScriptCode } from "../../core/script-code.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadSkills } from "./load-skills.ts";

test("toScriptTool() hands on the packages that the manifest lists", async () => {
  const folder = createFolder({
    "dice/SKILL.md": "---\nname: dice\ndescription: Rolls dice\n---\n# dice\n",
    "dice/kitbag.toml": '[dependencies]\npython = ["requests>=2"]\n',
    "dice/scripts/roll.py": "import argparse\nargparse.ArgumentParser().parse_args()\n",
  });

  const { reports } = await loadSkills({ directories: [folder] });

  const code = reports[0]?.skill?.tools[0]?.code as ScriptCode;
  expect(code.dependencies).toEqual({ python: ["requests>=2"] });
});
