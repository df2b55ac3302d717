import { cats, paris, prose, type Case, said } from "./case.ts";

const { comma, quotes } = said;

const call = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
const other = '{"name": "search", "arguments": {"query": "cats"}}';
const fence = "```";

/** Calls in fenced blocks, and fenced blocks that are not calls. */
export const fenceCases: readonly Case[] = [
  { text: `${fence}json\n${call}\n${fence}`, calls: [paris] },
  { text: `${fence}\n${call}\n${fence}`, calls: [paris] },
  { text: `${fence}JSON\n${call}\n${fence}`, calls: [paris] },
  {
    text: `${fence}json5\n{name: 'get_weather', arguments: {city: 'Paris'}}\n${fence}`,
    calls: [paris],
    repairs: [quotes, "quotes were put around keys"].toReversed(),
  },
  { text: `${fence}tool_call\n${call}\n${fence}`, calls: [paris] },
  { text: `${fence}tool_calls\n[${call}, ${other}]\n${fence}`, calls: [paris, cats] },
  { text: `${fence}tool_code\nget_weather(city="Paris")\n${fence}`, calls: [paris] },
  { text: `${fence}tool_code\nprint(get_weather(city="Paris"))\n${fence}`, calls: [paris] },
  { text: `${fence}tool_code\nresult = get_weather(city="Paris")\n${fence}`, calls: [paris] },
  {
    text: `${fence}tool_code\n# look it up\nget_weather(city="Paris")\nsearch(query="cats")\n${fence}`,
    calls: [paris, cats],
  },
  { text: `${fence}python\nget_weather(city="Paris")\n${fence}`, calls: [paris] },
  { text: `${fence}py\nprint(get_weather("Paris"))\n${fence}`, calls: [paris] },
  { text: `${fence}tool_use\n{"name": "list_files"}\n${fence}`, calls: [["list_files", {}]] },
  {
    text: `${fence}function_call\n{"get_weather": {"city": "Paris"}}\n${fence}`,
    calls: [paris],
    repairs: ["the key was taken as the name of the tool"],
  },
  { text: `${fence}xml\n<tool_call>${call}</tool_call>\n${fence}`, calls: [paris] },
  { text: `${fence}xml\n<get_weather><city>Paris</city></get_weather>\n${fence}`, calls: [paris] },
  { text: `${fence}\n<tool_call>\n${call}\n</tool_call>\n${fence}`, calls: [paris] },
  { text: `~~~json\n${call}\n~~~`, calls: [paris] },
  { text: `~~~\n${call}\n~~~\nDone.`, calls: [paris], prose: "Done." },
  { text: `${fence}${fence}json\n${call}\n${fence}${fence}`, calls: [paris] },
  { text: `${fence}json\n${call}`, calls: [paris] },
  { text: `${fence}json\n${call}\n`, calls: [paris] },
  { text: `${fence}json ${call} ${fence}`, calls: [paris] },
  { text: `${fence}json${call}${fence}`, calls: [paris] },
  { text: `Sure:${fence}json\n${call}\n${fence}`, calls: [paris], prose: "Sure:" },
  {
    text: `Sure, here it is:\n\n${fence}json\n${call}\n${fence}\n\nI wait.`,
    calls: [paris],
    prose: "Sure, here it is:\nI wait.",
  },
  { text: `${fence}json\n${call}\n${fence}\n${fence}json\n${other}\n${fence}`, calls: [paris, cats] },
  { text: `${fence}json\n${call}\n${other}\n${fence}`, calls: [paris, cats] },
  { text: `${fence}jsonl\n${call}\n${other}\n${fence}`, calls: [paris, cats] },
  { text: `${fence}json\n[\n${call},\n${other},\n]\n${fence}`, calls: [paris, cats], repairs: [comma, comma] },
  { text: `1. Look:\n   ${fence}json\n   ${call}\n   ${fence}`, calls: [paris], prose: "1. Look:" },
  { text: `${fence}json\r\n${call}\r\n${fence}\r\n`, calls: [paris] },
  {
    text: `${fence}json\n{"name":"write_file","arguments":{"path":"a.md","content":"${fence}js\\nx\\n${fence}"}}\n${fence}`,
    calls: [["write_file", { path: "a.md", content: "```js\nx\n```" }]],
  },
  { text: `${fence}tool_call\n{"name":"nope","arguments":{}}\n${fence}`, problems: ["unknown-tool"] },
  prose(`${fence}bash\n${call}\n${fence}`),
  prose(`${fence}javascript\nget_weather({ city: "Paris" })\n${fence}`),
  prose(`${fence}markdown\n<tool_call>${call}</tool_call>\n${fence}`),
  prose(`${fence}text\n${call}\n${fence}`),
  prose(`${fence}yaml\n${call}`),
  prose(`${fence}json\n{"city": "Paris", "degrees": 21}\n${fence}`),
  prose(`${fence}json\n{"name": "unknown", "arguments": {}}\n${fence}`),
  prose(`${fence}json\n${call}\nThis is what I would call.\n${fence}`),
  prose(`${fence}python\nimport os\nget_weather(city="Paris")\n${fence}`),
  prose(`${fence}python\nresult = get_weather(city="Paris")\nprint(result)\n${fence}`),
  prose(`${fence}python\ndef get_weather(city):\n    return 1\n${fence}`),
  prose(`${fence}\nplain\n${fence}`),
  prose(`${fence}${fence}`),
  prose(fence),
  { text: `${fence}js\nlet a = {};\n${fence}\n${call}`, calls: [paris], prose: "```js\nlet a = {};\n```" },
  { text: `Look at ${fence}x${fence} first. ${call}`, calls: [paris], prose: "Look at ```x``` first." },
];
