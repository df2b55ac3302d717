import { cats, paris, prose, type Case, said } from "./case.ts";

const { encoded } = said;

const call = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
const other = '{"name": "search", "arguments": {"query": "cats"}}';

/** Calls in JSON, in all the shapes that models know. */
export const jsonCases: readonly Case[] = [
  { text: call, calls: [paris] },
  { text: `  \n${call}\n`, calls: [paris] },
  { text: '{"arguments": {"city": "Paris"}, "name": "get_weather"}', calls: [paris] },
  { text: '{"name":"get_weather","parameters":{"city":"Paris"}}', calls: [paris] },
  { text: '{"name":"get_weather","args":{"city":"Paris"}}', calls: [paris] },
  { text: '{"name":"get_weather","params":{"city":"Paris"}}', calls: [paris] },
  { text: '{"name":"get_weather","input":{"city":"Paris"}}', calls: [paris] },
  { text: '{"tool":"get_weather","input":{"city":"Paris"}}', calls: [paris] },
  { text: '{"tool_name":"get_weather","parameters":{"city":"Paris"}}', calls: [paris] },
  { text: '{"tool":"get_weather","tool_input":{"city":"Paris"}}', calls: [paris] },
  { text: '{"function_name":"get_weather","arguments":{"city":"Paris"}}', calls: [paris] },
  { text: '{"function":"get_weather","arguments":{"city":"Paris"}}', calls: [paris] },
  { text: '{"action":"get_weather","action_input":{"city":"Paris"}}', calls: [paris] },
  {
    text: '{"recipient_name":"functions.get_weather","parameters":{"city":"Paris"}}',
    calls: [paris],
    repairs: ['the name "functions.get_weather" was read as "get_weather"'],
  },
  { text: '{"function":{"name":"get_weather","arguments":{"city":"Paris"}}}', calls: [paris] },
  { text: String.raw`{"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`, calls: [paris] },
  {
    text: String.raw`{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Paris\"}"}}`,
    calls: [paris],
  },
  { text: '{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Paris"}}', calls: [paris] },
  { text: '{"type":"function","name":"get_weather","parameters":{"city":"Paris"}}', calls: [paris] },
  { text: String.raw`{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}`, calls: [paris] },
  { text: String.raw`{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Paris\\\"}\""}`, calls: [paris] },
  {
    text: String.raw`"{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}"`,
    calls: [paris],
    repairs: [encoded],
  },
  { text: '{"name":"list_files","arguments":{}}', calls: [["list_files", {}]] },
  { text: '{"name":"list_files","arguments":null}', calls: [["list_files", {}]] },
  { text: '{"name":"list_files","arguments":""}', calls: [["list_files", {}]] },
  { text: '{"name":"list_files","arguments":"{}"}', calls: [["list_files", {}]] },
  { text: '{"tool_calls":[{"name":"get_weather","arguments":{"city":"Paris"}}]}', calls: [paris] },
  { text: `{"tool_calls":[${call},${other}]}`, calls: [paris, cats] },
  { text: `{"tool_call":${call}}`, calls: [paris] },
  { text: '{"function_call":{"name":"get_weather","arguments":{"city":"Paris"}}}', calls: [paris] },
  {
    text: '{"thought":"I look it up","action":"search","action_input":"cats"}',
    calls: [cats],
    repairs: ['the text was taken as "query"'],
  },
  { text: '{"action":"search","action_input":"cats"}', calls: [cats], repairs: ['the text was taken as "query"'] },
  { text: `[${call}]`, calls: [paris] },
  { text: `[${call}, ${other}]`, calls: [paris, cats] },
  { text: `[\n  ${call},\n  ${other}\n]`, calls: [paris, cats] },
  { text: `${call}\n${other}`, calls: [paris, cats] },
  { text: `${call}${other}`, calls: [paris, cats] },
  { text: `${call}\n\n${call}`, calls: [paris, paris] },
  { text: `I will look at the weather. ${call}`, calls: [paris], prose: "I will look at the weather." },
  { text: `${call} I wait for the result.`, calls: [paris], prose: "I wait for the result." },
  { text: `First ${call} and then ${other} at once.`, calls: [paris, cats], prose: "First\nand then\nat once." },
  { text: `Calling (${call})`, calls: [paris], prose: "Calling (\n)" },
  { text: `**Tool call:** ${call}`, calls: [paris], prose: "**Tool call:**" },
  {
    text: `{ "thoughts": { "deep": [1, {"a": "}"}] } } ${call}`,
    calls: [paris],
    prose: '{ "thoughts": { "deep": [1, {"a": "}"}] } }',
  },
  { text: `Use { to open. ${call}`, calls: [paris], prose: "Use { to open." },
  { text: `The set {1, 2} and [3]. ${call}`, calls: [paris], prose: "The set {1, 2} and [3]." },
  { text: `if (a) { return } ${call}`, calls: [paris], prose: "if (a) { return }" },
  {
    text: '{"name":"write_file","arguments":{"path":"a.js","content":"if (x) { y(\\"}\\") }"}}',
    calls: [["write_file", { path: "a.js", content: 'if (x) { y("}") }' }]],
  },
  {
    text: '{"name":"search","arguments":{"query":"{\\"name\\":\\"get_weather\\",\\"arguments\\":{}}"}}',
    calls: [["search", { query: '{"name":"get_weather","arguments":{}}' }]],
  },
  {
    text: '{"name":"write_file","arguments":{"path":"t","content":"</tool_call> and ```"}}',
    calls: [["write_file", { path: "t", content: "</tool_call> and ```" }]],
  },
  {
    text: '{"name":"send","arguments":{"to":"a","options":{"urgent":true,"cc":["b",null,1.5]}}}',
    calls: [["send", { to: "a", options: { urgent: true, cc: ["b", null, 1.5] } }]],
  },
  {
    text: String.raw`{"name":"search","arguments":{"query":"\u00e9\n\"\\ \ud83d\ude00"}}`,
    calls: [["search", { query: 'é\n"\\ 😀' }]],
  },
  prose('{"name":"get_weather"}'),
  prose('{"name":"unknown_tool","arguments":{}}'),
  prose('{"get_weather":{"city":"Paris"}}'),
  prose('{"city":"Paris"}'),
  prose('[{"name":"Ada","arguments":{}},{"name":"Bob","arguments":{}}]'),
  prose('{"tool_calls":[]}'),
  prose('{"action":"Final Answer","action_input":"It is sunny."}'),
];
