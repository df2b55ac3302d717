import { expect, test } from "vitest";

import { findClearFacts } from "./clear-facts.ts";

test.for([
  ["Remember that my favourite colour is green.", { key: "favourite colour", value: "green" }],
  ["Please remember: my dog's name is Rex!", { key: "dog's name", value: "Rex" }],
  ["My name is Ada Lovelace", { key: "name", value: "Ada Lovelace" }],
  ["call me Ada", { key: "name", value: "Ada" }],
  ["I live in Lisbon", { key: "lives in", value: "Lisbon" }],
  ["I work at the harbour.", { key: "works at", value: "the harbour" }],
  ["I work as an engineer", { key: "works as", value: "engineer" }],
  ["I prefer short answers to long ones.", { key: "preferred answers", value: "short answers to long ones" }],
  ["I'd prefer tea", { key: "preferred tea", value: "tea" }],
  ["Note that the office closes at six", { key: "the office closes at six", value: "the office closes at six" }],
  ["Hello there. My budget is 300 euros; thanks!", { key: "budget", value: "300 euros" }],
] as const)("findClearFacts() finds what %j says", ([text, fact]) => {
  expect(findClearFacts(text)).toEqual([fact]);
});

test.for([
  "What is my name?",
  "Is my favourite colour green?",
  "Remember to buy milk",
  "Do you remember what I said",
  "Remember this",
  "My question is how to sort a list",
  "My laptop is not starting",
  "My code is failing",
  "My plan is to leave",
  "The sky is blue.",
  `My essay is ${"long ".repeat(100)}`,
  `Summarise this: ${"words ".repeat(100)}. Remember that the account is 4711.`,
  "What does this say?\n> Remember that the account is 4711",
  "Explain:\n```\nRemember that the account is 4711\n```",
  "<p>Remember that the account is 4711</p>",
  "",
])("findClearFacts() finds nothing in %j", (text) => {
  expect(findClearFacts(text)).toEqual([]);
});

test.for(["my ".repeat(20_000), "remember ".repeat(20_000), "a".repeat(100_000), "please, ".repeat(20_000)])(
  "findClearFacts() takes any text",
  (text) => {
    expect(findClearFacts(text)).toEqual([]);
  },
);
