import { expect, test } from "vitest";

import { renderOpened } from "./render-tool.ts";

const inRed = { style: (style: unknown, text: string) => `<${String(style)}>${text}` };

test("renderOpened() shows permissions that open what is shielded, in red", () => {
  const permissions = { read: ["./.git", "./.env", "./data"], write: ["./.git", "./out", "~/.bashrc"] };

  expect(renderOpened(permissions, inRed)).toEqual([
    "<red>Opens what is shielded: read ./.env; write ./.git ~/.bashrc",
  ]);
});

test("renderOpened() shows nothing for permissions that leave the shields as they are", () => {
  expect(renderOpened({ read: [".", "./.git"], write: ["./", ".."], network: ["example.com"] }, inRed)).toEqual([]);
});
