import { expect, test } from "vitest";

import { renderCatalog } from "../../workspace/skills/render-skills.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { parseCatalog } from "./conversation.ts";

test("parseCatalog() reads what renderCatalog() writes", () => {
  const skills = [
    defineSkill({ name: "one", description: "Does <b> & more" }),
    defineSkill({ name: "two", description: "Does &lt; too" }),
  ];

  const found = parseCatalog(`Be kind.\n\n${renderCatalog(skills).text}\n\nGood luck.`);

  expect(found).toEqual([
    { name: "one", description: "Does <b> & more" },
    { name: "two", description: "Does &lt; too" },
  ]);
});

test.each([
  "",
  "<available_skills>",
  "<available_skills><skill><name>",
  "<skill><name>a</name></skill>",
  "</available_skills>",
])("parseCatalog() finds no skill in %j", (text) => {
  expect(parseCatalog(text)).toEqual([]);
});
