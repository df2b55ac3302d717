import { cats, paris, prose, type Case, said } from "./case.ts";

const { noTag } = said;

const call = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
const other = '{"name": "search", "arguments": {"query": "cats"}}';

/** Calls between tags. */
export const tagCases: readonly Case[] = [
  // Claude 2
  {
    text: "<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n<city>Paris</city>\n<days>3</days>\n</parameters>\n</invoke>\n</function_calls>",
    calls: [["get_weather", { city: "Paris", days: 3 }]],
  },
  {
    text: "I look.\n<function_calls><invoke><tool_name>get_weather</tool_name><parameters><city>Paris</city></parameters></invoke><invoke><tool_name>list_files</tool_name><parameters></parameters></invoke></function_calls>",
    prose: "I look.",
    calls: [paris, ["list_files", {}]],
  },
  { text: "<invoke>\n<tool_name>list_files</tool_name>\n</invoke>", calls: [["list_files", {}]] },
  {
    text: "<invoke><tool_name>nope</tool_name><parameters></parameters></invoke>",
    problems: ["unknown-tool"],
  },
  { text: "<invoke><tool_name>get_weather</tool_name><parameters><city>Par", problems: ["cut-off"] },
  { text: "<invoke><tool_name>get_weather</tool_name><parameters>", problems: ["cut-off"] },
  prose("<invoke> and <tool_name> are tags."),
  // Qwen 2.5 Coder
  { text: `<tools>\n${call}\n</tools>`, calls: [paris] },
  { text: `<tools>\n${call}\n${other}\n</tools>`, calls: [paris, cats] },
  { text: `<tools>[${call}, ${other}]</tools>`, calls: [paris, cats] },
  { text: `I look it up.\n<tools>${call}</tools>`, prose: "I look it up.", calls: [paris] },
  prose(
    '<tools>\n{"type": "function", "function": {"name": "get_weather", "description": "Tells the weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}\n</tools>',
  ),
  prose('<tools>\n{"name": "list_files", "description": "Lists files", "parameters": {}}\n</tools>'),
  prose(`<tools> are ${call}</tools>`),
  prose(`For example: <tools>${call}</tools>`),
  { text: `<tool_call>${call}</tool_call>`, calls: [paris] },
  { text: `<tool_call>\n${call}\n</tool_call>`, calls: [paris] },
  { text: `<TOOL_CALL>${call}</TOOL_CALL>`, calls: [paris] },
  { text: `<tool_call>${call}</tool_call>\n<tool_call>${other}</tool_call>`, calls: [paris, cats] },
  { text: `<tool_call>${call}\n${other}</tool_call>`, calls: [paris, cats] },
  { text: `<tool_call>[${call}, ${other}]</tool_call>`, calls: [paris, cats] },
  { text: `<tool_call>${call}<tool_call>${other}</tool_call>`, calls: [paris, cats], repairs: [noTag] },
  { text: `<tool_call>${call}`, calls: [paris], repairs: [noTag] },
  { text: `<tool_call>${call}</tool_call></tool_call>`, calls: [paris] },
  { text: `<tool_call>${call}</function_call>`, calls: [paris] },
  { text: `<tool_call>\`\`\`json\n${call}\n\`\`\`</tool_call>`, calls: [paris] },
  { text: `<tool_calls>[${call}]</tool_calls>`, calls: [paris] },
  {
    text: `<tool_calls>\n<tool_call>${call}</tool_call>\n<tool_call>${other}</tool_call>\n</tool_calls>`,
    calls: [paris, cats],
  },
  { text: `<function_call>${call}</function_call>`, calls: [paris] },
  { text: `<functioncall> ${call} </functioncall>`, calls: [paris] },
  {
    text: `<functioncall> {"name": "get_weather", "arguments": '{"city": "Paris"}'} </functioncall>`,
    calls: [paris],
    repairs: ['other quotes than " were read as quotes'],
  },
  { text: `<tool_use>${call}</tool_use>`, calls: [paris] },
  {
    text: `Let me look.\n<tool_call>${call}</tool_call>\nOne moment.`,
    calls: [paris],
    prose: "Let me look.\nOne moment.",
  },
  { text: `<tool_call>${call}</tool_call> done <tool_call>${other}</tool_call>`, calls: [paris, cats], prose: "done" },
  {
    text: '<tool_call>{"name":"write_file","arguments":{"path":"a","content":"x </tool_call> y"}}</tool_call>',
    calls: [["write_file", { path: "a", content: "x </tool_call> y" }]],
  },
  { text: '<tool_call>{"name":"list_files"}</tool_call>', calls: [["list_files", {}]] },
  {
    text: '<tool_call>{"name":"get_weather","city":"Paris"}</tool_call>',
    calls: [paris],
    repairs: ["the input was found beside the name"],
  },
  {
    text: '<tool_call>{"get_weather":{"city":"Paris"}}</tool_call>',
    calls: [paris],
    repairs: ["the key was taken as the name of the tool"],
  },
  {
    text: String.raw`<tool_call>"{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}"</tool_call>`,
    calls: [paris],
    repairs: ["JSON that was written as a text was read"],
  },
  { text: '<tool_call>get_weather(city="Paris")</tool_call>', calls: [paris] },
  { text: '<tool_call>get_weather\n{"city":"Paris"}\n</tool_call>', calls: [paris] },
  { text: "<tool_call>list_files</tool_call>", calls: [["list_files", {}]] },
  {
    text: "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    calls: [["get_weather", { city: "Paris", days: 3 }]],
  },
  { text: "<tool_call>nope\n<arg_key>a</arg_key>\n<arg_value>b</arg_value>\n</tool_call>", problems: ["unknown-tool"] },
  { text: '<tool_call>{"name":"nope","arguments":{}}</tool_call>', problems: ["unknown-tool"] },
  { text: '<tool_call>{"name":"nope","arguments":{}}</tool_call>', problems: ["unknown-tool"] },
  {
    text: `<tool_call>{"name":"nope","arguments":{}}</tool_call><tool_call>${call}</tool_call>`,
    calls: [paris],
    problems: ["unknown-tool"],
  },
  { text: '<tool_call>{"name" "arguments"</tool_call>', problems: ["unknown-tool"] },
  { text: `<tool_call>{{{</tool_call>\n<tool_call>${call}</tool_call>`, calls: [paris], problems: ["unreadable"] },
  { text: '<function=get_weather>{"city": "Paris"}</function>', calls: [paris] },
  { text: '<function=get_weather>{"city": "Paris"}', calls: [paris] },
  {
    text: '<function=get_weather>{"city": "Paris"}</function><function=search>{"query": "cats"}</function>',
    calls: [paris, cats],
  },
  { text: "<function=get_weather><parameter=city>Paris</parameter></function>", calls: [paris] },
  {
    text: "<tool_call>\n<function=write_file>\n<parameter=path>\na b.txt\n</parameter>\n<parameter=content>\nline 1\n  line 2\n\n</parameter>\n</function>\n</tool_call>",
    calls: [["write_file", { path: "a b.txt", content: "line 1\n  line 2\n" }]],
  },
  { text: "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</tool_call>", calls: [paris] },
  {
    text: '<function=search>\n<parameter=query>cats</parameter>\n<parameter=limit>5</parameter>\n<parameter=tags>["a", "b"]</parameter>\n</function>',
    calls: [["search", { query: "cats", limit: 5, tags: ["a", "b"] }]],
  },
  {
    text: "<function=set_flag><parameter=flag>x</parameter><parameter=value>True</parameter></function>",
    calls: [["set_flag", { flag: "x", value: true }]],
  },
  { text: "<function=nope><parameter=a>b</parameter></function>", problems: ["unknown-tool"] },
  { text: '<invoke name="get_weather"><parameter name="city">Paris</parameter></invoke>', calls: [paris] },
  {
    text: '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n<invoke name="search">\n<parameter name="query">cats</parameter>\n</invoke>\n</function_calls>',
    calls: [paris, cats],
  },
  {
    text: '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n</minimax:tool_call>',
    calls: [paris],
  },
  {
    text: "<invoke name='search'><parameter name='query'>a < b && c > d</parameter></invoke>",
    calls: [["search", { query: "a < b && c > d" }]],
  },
  {
    text: '<invoke name="write_file"><parameter name="path">a.html</parameter><parameter name="content"><![CDATA[<b>x</b>]]></parameter></invoke>',
    calls: [["write_file", { path: "a.html", content: "<b>x</b>" }]],
  },
  {
    text: '<invoke name="write_file"><parameter name="path">a</parameter><parameter name="content">&lt;b&gt;</parameter></invoke>',
    calls: [["write_file", { path: "a", content: "&lt;b&gt;" }]],
  },
  {
    text: '<invoke name="search"><parameter name="query">cats</parameter><parameter name="tags">a</parameter><parameter name="tags">b</parameter></invoke>',
    calls: [["search", { query: "cats", tags: ["a", "b"] }]],
  },
  { text: '<invoke name="list_files"></invoke>', calls: [["list_files", {}]] },
  { text: "<get_weather><city>Paris</city></get_weather>", calls: [paris] },
  {
    text: "<get_weather>\n  <city>Paris</city>\n  <days>3</days>\n</get_weather>",
    calls: [["get_weather", { city: "Paris", days: 3 }]],
  },
  { text: '<get_weather>{"city": "Paris"}</get_weather>', calls: [paris] },
  { text: '<get_weather city="Paris" days="3"/>', calls: [["get_weather", { city: "Paris", days: 3 }]] },
  { text: "<list_files></list_files>", calls: [["list_files", {}]] },
  { text: "<list_files/>", calls: [["list_files", {}]] },
  { text: "I search.\n<search><query>cats</query></search>", calls: [cats], prose: "I search." },
  prose("<weather><city>Paris</city></weather>"),
  prose("<get_weather>Paris</get_weather>"),
  prose("<search>cats</search>"),
  prose("<get_weather><town>Paris</town></get_weather>"),
  prose("<b>bold</b> and 1 < 2 > 0 <br/> <a href='x'>y</a>"),
  prose("Put the call between <tool_call> and </tool_call> tags."),
  prose("<tool_call></tool_call>"),
  { text: '<tool_call name="get_weather">{"city": "Paris"}</tool_call>', calls: [paris] },
  {
    text: '<function_call name="get_weather">\n{"city": "Paris"}\n</function_call>\nDone.',
    calls: [paris],
    prose: "Done.",
  },
  { text: '<tool_call name="get_weather"><city>Paris</city></tool_call>', calls: [paris] },
  { text: '<tool_call name="get_wether">{"city": "Paris"}</tool_call>', problems: ["unknown-tool"] },
];
