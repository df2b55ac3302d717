import { cats, paris, prose, type Case, said } from "./case.ts";

const {
  backslashes,
  brackets,
  comma,
  comments,
  guessed,
  innerQuotes,
  keys,
  lineBreaks,
  noComma,
  noTag,
  number,
  path,
  python,
  quotes,
  wrongBracket,
} = said;

const whole = '{"name": "get_weather", "arguments": {"city": "Paris"}}';

function tagged(json: string): string {
  return `<tool_call>${json}</tool_call>`;
}

function write(content: string): NonNullable<Case["calls"]> {
  return [["write_file", { path: "a", content }]];
}

function cut(length: number): Case {
  return { text: `<tool_call>${whole}`.slice(0, length), problems: ["cut-off"] };
}

/** Calls that are not the JSON they were meant to be. */
export const damageCases: readonly Case[] = [
  { text: tagged("{'name': 'get_weather', 'arguments': {'city': 'Paris'}}"), calls: [paris], repairs: [quotes] },
  { text: "{'name': 'get_weather', 'arguments': {'city': 'Paris'}}", calls: [paris], repairs: [quotes] },
  { text: tagged("{“name”: “get_weather”, “arguments”: {“city”: “Paris”}}"), calls: [paris], repairs: [quotes] },
  { text: tagged("{‘name’: ‘get_weather’, ‘arguments’: {‘city’: ‘Paris’}}"), calls: [paris], repairs: [quotes] },
  { text: tagged('{`name`: `get_weather`, "arguments": {"city": "Paris"}}'), calls: [paris], repairs: [quotes] },
  { text: tagged('{name: "get_weather", arguments: {city: "Paris"}}'), calls: [paris], repairs: [keys] },
  { text: tagged("{name: get_weather, arguments: {city: Paris}}"), calls: [paris], repairs: [guessed] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Pa" + "ris"}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": \'Pa\' + \'ris\'}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "search", "arguments": {"query": "a" + name, "limit": 1}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "search", "arguments": {"query": "a", "tags": ["b" + "c"]}}'), problems: ["unreadable"] },
  prose('get_weather(city="Pa" + "ris")'),
  {
    text: tagged('{"name": "search", "arguments": {"query": "1 + 1", "limit": 1}}'),
    calls: [["search", { query: "1 + 1", limit: 1 }]],
  },
  { text: tagged('{"name": "set_flag", "arguments": {"flag": "a", "value": tr'), problems: ["unreadable"] },
  { text: tagged('{"name": "search", "arguments": {"query": "a", "tags": [1,tr'), problems: ["unreadable"] },
  { text: tagged('{"name": "search", "arguments": {"query": "a", "tags": ["b",tr]}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "search", "arguments": {"query": ca'), problems: ["unreadable"] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris",},}'), calls: [paris], repairs: [comma] },
  { text: tagged('{"name": "get_weather",, "arguments": {"city": "Paris"}}'), calls: [paris], repairs: [comma] },
  { text: tagged('{"name": "get_weather" "arguments": {"city": "Paris"}}'), calls: [paris], repairs: [noComma] },
  {
    text: tagged('{"name": "get_weather"\n"arguments": {"city": "Paris" "days": 3}}'),
    calls: [["get_weather", { city: "Paris", days: 3 }]],
    repairs: [noComma],
  },
  {
    text: tagged('{"name": "get_weather", // the tool\n"arguments": {"city": "Paris"} /* done */}'),
    calls: [paris],
    repairs: [comments],
  },
  {
    text: tagged('{"name": "get_weather", # the tool\n"arguments": {"city": "Paris"}}'),
    calls: [paris],
    repairs: [comments],
  },
  {
    text: tagged('{"name": "search", "arguments": {"query": "http://x.y/#a // b"}}'),
    calls: [["search", { query: "http://x.y/#a // b" }]],
  },
  {
    text: tagged("{'name': 'search', 'arguments': {'query': 'http://x.y/#a // b'}}"),
    calls: [["search", { query: "http://x.y/#a // b" }]],
    repairs: [quotes],
  },
  {
    text: tagged('{"name": "set_flag", "arguments": {"flag": "a", "value": True}}'),
    calls: [["set_flag", { flag: "a", value: true }]],
    repairs: [python],
  },
  {
    text: tagged("{'name': 'send', 'arguments': {'to': 'a', 'options': {'urgent': False, 'cc': [None]}}}"),
    calls: [["send", { to: "a", options: { urgent: false, cc: [null] } }]],
    repairs: [quotes, python],
  },
  {
    text: tagged('{"name": "get_weather", "arguments": {"city": "Paris", "days": +3}}'),
    calls: [["get_weather", { city: "Paris", days: 3 }]],
    repairs: [number],
  },
  {
    text: tagged('{"name": "get_weather", "arguments": {"city": "Paris", "days": 3.}}'),
    calls: [["get_weather", { city: "Paris", days: 3 }]],
    repairs: [number],
  },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris", "days": NaN}}'), problems: ["input"] },
  {
    text: tagged('{"name": "write_file", "arguments": {"path": "a", "content": "one\ntwo\n"}}'),
    calls: write("one\ntwo\n"),
    repairs: [lineBreaks],
  },
  { text: tagged('{"name": "write_file", "arguments": {"path": "a", "content": "a\tb"}}'), calls: write("a\tb") },
  {
    text: tagged('{"name": "write_file", "arguments": {"path": "a", "content": "he said "hi" to me"}}'),
    calls: write('he said "hi" to me'),
    repairs: [innerQuotes],
  },
  {
    text: tagged('{"name": "write_file", "arguments": {"path": "a", "content": "<a href="x">y</a>"}}'),
    calls: write('<a href="x">y</a>'),
    repairs: [innerQuotes],
  },
  {
    text: tagged('{"name": "write_file", "arguments": {"path": "a", "content": ""quoted""}}'),
    calls: write('"quoted"'),
    repairs: [innerQuotes],
  },
  {
    text: tagged('{"name": "write_file", "arguments": {"content": "say "a", then b", "path": "a"}}'),
    calls: write('say "a", then b'),
    repairs: [innerQuotes],
  },
  {
    text: tagged("{'name': 'write_file', 'arguments': {'path': 'a', 'content': 'it's Bob's'}}"),
    calls: write("it's Bob's"),
    repairs: [quotes, innerQuotes],
  },
  {
    text: tagged(`{'name': 'write_file', 'arguments': {'path': 'a', 'content': "it's"}}`),
    calls: write("it's"),
    repairs: [quotes],
  },
  {
    text: tagged(String.raw`{"name": "write_file", "arguments": {"path": "a", "content": "it\'s"}}`),
    calls: write("it's"),
  },
  {
    text: tagged(String.raw`{"name": "write_file", "arguments": {"path": "C:\Users\new\table.txt", "content": "a"}}`),
    calls: [["write_file", { path: String.raw`C:\Users\new\table.txt`, content: "a" }]],
    repairs: [path],
  },
  {
    text: tagged(String.raw`{"name": "write_file", "arguments": {"path": "C:\temp\file.txt", "content": "a"}}`),
    calls: [["write_file", { path: String.raw`C:\temp\file.txt`, content: "a" }]],
    repairs: [path],
  },
  {
    text: tagged(String.raw`{"name": "write_file", "arguments": {"path": "C:\\Users\\new", "content": "a"}}`),
    calls: [["write_file", { path: String.raw`C:\Users\new`, content: "a" }]],
  },
  {
    text: tagged(String.raw`{"name": "search", "arguments": {"query": "\d+\.\w\n"}}`),
    calls: [["search", { query: "\\d+\\.\\w\n" }]],
    repairs: [backslashes],
  },
  {
    text: tagged(String.raw`{"name": "search", "arguments": {"query": "Q:\nA:\tB"}}`),
    calls: [["search", { query: "Q:\nA:\tB" }]],
  },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris"}'), calls: [paris], repairs: [brackets] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris"'), calls: [paris], repairs: [brackets] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris"}}}'), calls: [paris] },
  { text: `${whole}}`, calls: [paris] },
  {
    text: tagged('{"name": "search", "arguments": {"query": "cats", "tags": ["a", "b"}}'),
    calls: [["search", { query: "cats", tags: ["a", "b"] }]],
    repairs: [wrongBracket],
  },
  { text: tagged('[{"name": "get_weather", "arguments": {"city": "Paris"}}'), calls: [paris], repairs: [brackets] },
  { text: '{"name": "get_weather", "arguments": {"city": "Paris"}', calls: [paris], repairs: [brackets] },
  { text: '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}\n```', calls: [paris], repairs: [brackets] },
  {
    text: '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}',
    calls: [paris],
    repairs: [brackets, noTag],
  },
  {
    text: '\uFEFF<tool_call>\u200B{\u200B"name": "get_weather", \uFEFF"arguments": {"city": "Paris"}}</tool_call>',
    calls: [paris],
  },
  { text: `\uFEFF${whole}`, calls: [paris] },
  {
    text: tagged('{"name": "search", "arguments": {"query": "a\u200Bb"}}'),
    calls: [["search", { query: "a\u200Bb" }]],
  },
  { text: tagged('{\u00A0"name":\u00A0"get_weather",\u00A0"arguments":\u00A0{"city": "Paris"}}'), calls: [paris] },
  { text: tagged('{"name": "get_weather"，"arguments": {"city": "Paris"}}'), calls: [paris] },
  { text: tagged('{"name" = "get_weather", "arguments" => {"city": "Paris"}}'), calls: [paris] },
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris}}'), problems: ["unreadable"] },
  { text: tagged("name: get_weather\narguments:\n  city: Paris\n"), problems: ["unreadable"] },
  { text: tagged("tool = get_weather, city = Paris"), problems: ["unreadable"] },
  {
    text: `${tagged('{"name": "get_weather", "arguments": {"city": "Paris}}')}\n<search><query>cats</query></search>`,
    calls: [cats],
    problems: ["unreadable"],
  },
  {
    text: tagged('{"name": "search", "arguments": {"__proto__": {"polluted": true}, "query": "a"}}'),
    problems: ["input"],
  },
  {
    text: tagged("{'name': 'search', 'arguments': {'__proto__': {'polluted': True}, 'query': 'a'}}"),
    problems: ["input"],
  },
  { text: '<invoke name="search"><parameter name="__proto__">a</parameter></invoke>', problems: ["input"] },
  { text: 'search(__proto__="a", query="b")', problems: ["input"] },
  { text: tagged('{"name": "constructor", "arguments": {}}'), problems: ["unknown-tool"] },
  { text: tagged('{"name": "__proto__", "arguments": {}}'), problems: ["unknown-tool"] },
  {
    text: tagged(`{"name": "search", "arguments": {"query": ${"[".repeat(200)}1${"]".repeat(200)}}}`),
    problems: ["input"],
  },
  { text: '{"name": "get_weather", "arguments": {"city": "Par', problems: ["cut-off"] },
  { text: '```json\n{"name": "get_weather", "arguments": {"city": "Par', problems: ["cut-off"] },
  { text: '{"name": "get_weather", "arguments": {"city": "Paris", "days": 1', problems: ["cut-off"] },
  { text: String.raw`{"name": "get_weather", "arguments": "{\"city\": \"Par`, problems: ["cut-off"] },
  { text: `${tagged(whole)}\n<tool_call>{"name": "search", "arguments": {"que`, calls: [paris], problems: ["cut-off"] },
  { text: '<invoke name="get_weather"><parameter name="city">Par', problems: ["cut-off"] },
  { text: '<invoke name="get_weather"><parameter name="city">Paris</parameter>', problems: ["cut-off"] },
  { text: "<get_weather><city>Paris</city>", problems: ["cut-off"] },
  { text: "<function=get_weather><parameter=city>Par", problems: ["cut-off"] },
  { text: '<function=get_weather>{"city": "Par', problems: ["cut-off"] },
  { text: "<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>Par", problems: ["cut-off"] },
  { text: '[TOOL_CALLS]get_weather[ARGS]{"city": "Par', problems: ["cut-off"] },
  cut('<tool_call>{"name": "get_weather", '.length),
  cut('<tool_call>{"name": "get_weather", "argu'.length),
  cut('<tool_call>{"name": "get_weather", "arguments":'.length),
  cut('<tool_call>{"name": "get_weather", "arguments": {'.length),
  cut('<tool_call>{"name": "get_weather", "arguments": {"city"'.length),
  cut('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"'.length),
  // What is missing is not made up.
  { text: tagged('{"name": "get_weather", "arguments": {"city": "Paris", "days": -}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "send", "arguments": {"to": "a", "options": {"cc": [1, -]}}}'), problems: ["unreadable"] },
  { text: tagged('{"name": "send", "arguments": {"to": "a", "options": {"cc": [NaN]}}}'), problems: ["input"] },
  { text: tagged('{"name": "send", "arguments": {"to": "a", "options": {"cc": [-Infinity]}}}'), problems: ["input"] },
  {
    text: tagged('{"name": "search", "arguments": {"query": "NaN", "tags": ["Infinity"]}}'),
    calls: [["search", { query: "NaN", tags: ["Infinity"] }]],
  },
  // A call that cannot be read takes no other with it.
  {
    text: `<tool_call>\n${whole}\n{"name": "list_files", "arguments": "}}\n</tool_call>`,
    calls: [paris],
    problems: ["unreadable"],
  },
  {
    text: `<tool_call>\n${whole}\n{"name": "list_files", "ar"guments": {}}\n</tool_call>\n${tagged(whole)}`,
    calls: [paris, paris],
    problems: ["unreadable"],
  },
  {
    text: `<tool_call>${whole}\n{"name": 5}\n</tool_call>\nDone.`,
    calls: [paris],
    problems: ["unreadable"],
    prose: "Done.",
  },
];
