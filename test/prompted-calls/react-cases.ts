import { cats, paris, prose, type Case } from "./case.ts";

const fence = "```";
const asQuery = 'the text was taken as "query"';
const lines = ["search", { query: "cats\nand dogs" }] as const;

/** Calls as lines of `Action:` and `Action Input:`. */
export const reactCases: readonly Case[] = [
  { text: 'Action: get_weather\nAction Input: {"city": "Paris"}', calls: [paris] },
  {
    text: 'Thought: I need it.\nAction: get_weather\nAction Input: {"city": "Paris"}',
    calls: [paris],
    prose: "Thought: I need it.",
  },
  {
    text: 'Action: get_weather\nAction Input: {"city": "Paris"}\nObservation: It is sunny.\nFinal Answer: sunny',
    calls: [paris],
  },
  { text: 'Action: get_weather\nAction Input: {"city": "Paris"}\n\n', calls: [paris] },
  { text: "Action: search\nAction Input: cats", calls: [cats], repairs: ['the text was taken as "query"'] },
  { text: 'Action: search\nAction Input: "cats"', calls: [cats], repairs: ['the text was taken as "query"'] },
  {
    text: "Action: search\nAction Input: cats\nObservation: none",
    calls: [cats],
    repairs: ['the text was taken as "query"'],
  },
  { text: "Action: search\nAction Input: cats\nand dogs", calls: [lines], repairs: [asQuery] },
  { text: "Action: search\nAction Input:\ncats\nand dogs\nObservation: none", calls: [lines], repairs: [asQuery] },
  {
    text: "Action: search\nAction Input: cats\n\nand dogs\n\nThought: Now I wait.",
    calls: [["search", { query: "cats\n\nand dogs" }]],
    repairs: [asQuery],
    prose: "Thought: Now I wait.",
  },
  {
    text: `Action: search\nAction Input: ${fence}\ncats\n\nand dogs\n${fence}\nI wait.`,
    calls: [["search", { query: "cats\n\nand dogs" }]],
    repairs: [asQuery],
    prose: "I wait.",
  },
  { text: `Action: get_weather\nAction Input:\n${fence}json\n{"city": "Paris"}\n${fence}`, calls: [paris] },
  { text: `Action: search\nAction Input:\n${fence}\ncats\nand dogs\n${fence}\n`, calls: [lines], repairs: [asQuery] },
  { text: 'Action: search\nAction Input: "cats"\n\nI wait.', calls: [cats], repairs: [asQuery], prose: "I wait." },
  { text: "Action: search\nAction Input: `cats`\n\nI wait.", calls: [cats], repairs: [asQuery], prose: "I wait." },
  { text: "Action: search\nAction Input: cats\n\nI wait.", problems: ["unreadable"] },
  { text: `Action: search\nAction Input: ${fence}\ncats\n\nand do`, problems: ["cut-off"] },
  { text: "Action: list_files\nAction Input: None", calls: [["list_files", {}]] },
  { text: "Action: list_files\nAction Input: {}", calls: [["list_files", {}]] },
  { text: "Action: search[cats]", calls: [cats], repairs: ['the text was taken as "query"'] },
  { text: 'Action: get_weather(city="Paris")', calls: [paris] },
  { text: 'action: get_weather\naction input: {"city": "Paris"}', calls: [paris] },
  { text: '**Action:** get_weather\n**Action Input:** {"city": "Paris"}', calls: [paris] },
  { text: 'Action: `get_weather`\nAction Input: {"city": "Paris"}', calls: [paris] },
  { text: `Action: get_weather\nAction Input: ${fence}json\n{"city": "Paris"}\n${fence}`, calls: [paris] },
  { text: 'Action 1: get_weather\nAction Input 1: {"city": "Paris"}', calls: [paris] },
  {
    text: "Action: get_weather\nAction Input: {'city': 'Paris',}",
    calls: [paris],
    repairs: ['other quotes than " were read as quotes', "a comma too many was dropped"],
  },
  {
    text: 'Action: Get Weather\nAction Input: {"city": "Paris"}',
    prose: 'Action: Get Weather\nAction Input: {"city": "Paris"}',
  },
  { text: 'Action: get_weather\nAction_Input: {"city": "Paris"}', calls: [paris] },
  {
    text: 'Action: get_weather\nAction Input: {\n  "city": "Paris",\n  "days": 3\n}\nObservation:',
    calls: [["get_weather", { city: "Paris", days: 3 }]],
  },
  { text: 'Action: get_weather\nAction Input: {"city": "Par', problems: ["cut-off"] },
  { text: "Action: get_weather\nAction Input:", problems: ["cut-off"] },
  { text: "Action: write_file\nAction Input: hello", problems: ["input"] },
  {
    text: `Action:\n${fence}json\n[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]\n${fence}`,
    calls: [paris],
    prose: "Action:",
  },
  prose("Action: nope\nAction Input: {}"),
  prose("Action: I will look at it.\nThen we talk."),
  prose("Action: get_weather"),
  prose("Actions speak louder than words."),
];
