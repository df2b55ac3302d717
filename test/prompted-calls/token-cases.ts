import { cats, paris, prose, type Case } from "./case.ts";

const call = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
const other = '{"name": "search", "arguments": {"query": "cats"}}';
const fence = "```";

/** Calls with the special tokens of model families, which come through as text when a server does not know them. */
export const tokenCases: readonly Case[] = [
  { text: `[TOOL_CALLS] [${call}]`, calls: [paris] },
  { text: `[TOOL_CALLS][${call}, ${other}]`, calls: [paris, cats] },
  { text: `[TOOL_CALLS]${call}`, calls: [paris] },
  { text: `[TOOL_CALLS] [${call}]</s>`, calls: [paris] },
  { text: `Sure. [TOOL_CALLS] [${call}]`, calls: [paris], prose: "Sure." },
  { text: '[TOOL_CALLS]get_weather{"city": "Paris"}', calls: [paris] },
  { text: '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}', calls: [paris] },
  { text: '[TOOL_CALLS]get_weather[CALL_ID]a1B2c3d4e[ARGS]{"city": "Paris"}', calls: [paris] },
  {
    text: '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]search[ARGS]{"query": "cats"}',
    calls: [paris, cats],
  },
  { text: `<|python_tag|>${call}<|eom_id|>`, calls: [paris] },
  {
    text: '<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}',
    calls: [paris],
  },
  { text: '<|python_tag|>get_weather.call(city="Paris")<|eom_id|>', calls: [paris] },
  { text: '<|python_tag|>get_weather(city="Paris")', calls: [paris] },
  { text: `<|python_tag|>${call}; ${other}`, calls: [paris, cats] },
  { text: `<|tool_call|>[${call}]`, calls: [paris] },
  { text: `<|tool_call|>[${call}]<|/tool_call|>`, calls: [paris] },
  { text: `<|tool_call_start|>[get_weather(city="Paris")]<|tool_call_end|>`, calls: [paris] },
  { text: `<|action_start|><|plugin|>\n${call}<|action_end|>`, calls: [paris] },
  { text: `${call}<|im_end|>`, calls: [paris] },
  { text: `<tool_call>${call}</tool_call><|im_end|>`, calls: [paris] },
  {
    text: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n${fence}json\n{"city": "Paris"}\n${fence}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    calls: [paris],
  },
  {
    text: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "cats"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
    calls: [paris, cats],
  },
  {
    text: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    calls: [paris],
  },
  {
    text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_call_begin|>functions.search:1<|tool_call_argument_begin|>{"query": "cats"}<|tool_call_end|><|tool_calls_section_end|>',
    calls: [paris, cats],
  },
  { text: '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}', calls: [paris] },
  {
    text: '<|tool_call_begin|>functions.nope:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
    problems: ["unknown-tool"],
  },
  { text: "[TOOL_CALLS] [{", problems: ["unreadable"] },
  { text: "<|python_tag|>import os\nos.remove('x')", prose: "<|python_tag|>import os\nos.remove('x')" },
  { text: "Hello<|im_end|>", prose: "Hello" },
  { text: "Hello.</s>", prose: "Hello." },
  prose("[TOOL_CALLS] is a token."),
  prose("a <|unknown|> token"),
  prose("a <| b |> c"),
];
