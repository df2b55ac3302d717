import { cats, paris, prose, said, type Case } from "./case.ts";

const city = '{"city": "Paris"}';
const call = `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${city}<|call|>`;
const result = "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>";

/** Messages whose head says who they are for: Harmony, Functionary. And thoughts and calls between tokens of Apertus and Gemma. */
export const headCases: readonly Case[] = [
  // Harmony (gpt-oss)
  { text: call, calls: [paris] },
  { text: `<|channel|>commentary to=functions.get_weather<|message|>${city}<|call|>`, calls: [paris] },
  { text: `<|channel|>commentary to=functions.get_weather json<|message|>${city}`, calls: [paris] },
  { text: `<|channel|>commentary to=get_weather <|constrain|>json<|message|>${city}<|call|>`, calls: [paris] },
  {
    text: `<|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>${city}<|call|>`,
    calls: [paris],
  },
  { text: ` to=functions.get_weather<|channel|>commentary json<|message|>${city}<|call|>`, calls: [paris] },
  {
    text: `<|channel|>analysis<|message|>I need the weather.<|end|><|start|>assistant${call}`,
    reasoning: "I need the weather.",
    calls: [paris],
  },
  {
    text: `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look it up.<|end|><|start|>assistant${call}`,
    reasoning: "Hm.",
    prose: "I look it up.",
    calls: [paris],
  },
  {
    text: `${call}<|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "cats"}<|call|>`,
    calls: [paris, cats],
  },
  {
    text: "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>",
    reasoning: "Easy.",
    prose: "It is sunny.",
  },
  { text: "<|channel|>commentary to=functions.list_files<|message|>{}<|call|>", calls: [["list_files", {}]] },
  { text: "<|channel|>commentary to=functions.list_files<|message|><|call|>", calls: [["list_files", {}]] },
  { text: `<|channel|>analysis to=functions.get_weather<|message|>${city}<|call|>`, calls: [paris] },
  {
    text: `<|channel|>analysis<|message|>I could write ${call.slice(0, -8)}<|end|><|start|>assistant<|channel|>final<|message|>Sunny.`,
    reasoning: `I could write ${call.slice(0, -8)}`,
    prose: "Sunny.",
  },
  { text: `<|channel|>analysis<|message|>I write ${call.slice(0, -8)}`, reasoning: `I write ${call.slice(0, -8)}` },
  { text: `${call}${result}{"sky": "blue"}<|end|>It is blue.`, calls: [paris] },
  { text: `<|channel|>commentary to=functions.nope<|message|>{"a": 1}<|call|>`, problems: ["unknown-tool"] },
  { text: `<|channel|>commentary to=functions.get_weather<|message|>{"city": "Par`, problems: ["cut-off"] },
  { text: "<|channel|>commentary to=functions.get_weather<|message|>", problems: ["cut-off"] },
  {
    text: "<|channel|>commentary to=functions.get_weather<|message|>Paris<|call|>",
    problems: ["unreadable"],
    prose: "Paris",
  },
  {
    text: "<|channel|>commentary to=functions.get_weather<|message|>{'city': 'Paris',}<|call|>",
    calls: [paris],
    repairs: [said.quotes, said.comma],
  },
  prose(`For example: ${call.slice(0, -8)}`),
  prose(`Write \`${call}\` in your file.`),
  prose("<|channel|> is a token of Harmony."),
  prose("to=functions.get_weather is how it begins."),
  // Functionary
  { text: `>>>get_weather\n${city}`, calls: [paris] },
  { text: `>>>all\nI look it up.>>>get_weather\n${city}`, prose: "I look it up.", calls: [paris] },
  { text: `>>>get_weather\n${city}\n>>>search\n{"query": "cats"}`, calls: [paris, cats] },
  { text: ">>>all\nHello.", prose: "Hello." },
  { text: `>>>get_weather\n{"city": "Par`, problems: ["cut-off"] },
  prose(">>> get_weather\nwas quoted three times"),
  prose('>>>nope\n{"city": "Paris"}'),
  prose(">>>get_weather\nnothing else"),
  prose("1 >> 2 >>> 3"),
  { text: `<|from|>assistant\n<|recipient|>get_weather\n<|content|>${city}<|stop|>`, calls: [paris] },
  { text: `<|recipient|>get_weather\n<|content|>${city}`, calls: [paris] },
  {
    text: `<|from|>assistant\n<|recipient|>all\n<|content|>I look it up.\n<|from|>assistant\n<|recipient|>get_weather\n<|content|>${city}<|stop|>`,
    prose: "I look it up.",
    calls: [paris],
  },
  // Apertus
  { text: `<|tools_prefix|>[{"get_weather": ${city}}]<|tools_suffix|>`, calls: [paris], repairs: [said.key] },
  {
    text: `<|inner_prefix|>I look it up.<|inner_suffix|><|tools_prefix|>[{"get_weather": ${city}}, {"search": {"query": "cats"}}]<|tools_suffix|><|assistant_end|>`,
    reasoning: "I look it up.",
    calls: [paris, cats],
    repairs: [said.key, said.key],
  },
  {
    text: "<|inner_prefix|>Easy.<|inner_suffix|>It is sunny.<|assistant_end|>",
    reasoning: "Easy.",
    prose: "It is sunny.",
  },
  {
    text: `<|inner_prefix|><|tools_prefix|>[{"get_weather": ${city}}]`,
    reasoning: `<|tools_prefix|>[{"get_weather": ${city}}]`,
  },
  { text: `<|tools_prefix|>[{"get_weather": {"city": "Par`, problems: ["cut-off"] },
  { text: '<|tools_prefix|>[{"get_weather": }]', problems: ["unreadable"] },
  // FunctionGemma and Gemma 4
  {
    text: "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>",
    calls: [paris],
    repairs: [said.keys],
  },
  {
    text: "<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call><start_function_call>call:search{query:<escape>cats<escape>,tags:[<escape>a<escape>,<escape>b, c<escape>]}<end_function_call><start_function_response>",
    calls: [
      ["get_weather", { city: "Paris", days: 3 }],
      ["search", { query: "cats", tags: ["a", "b, c"] }],
    ],
    repairs: [said.keys, said.keys],
  },
  {
    text: 'Sure.<start_function_call>call:write_file{path:<escape>a.txt<escape>,content:<escape>a } "b" {\nc<escape>}<end_function_call>',
    prose: "Sure.",
    calls: [["write_file", { path: "a.txt", content: 'a } "b" {\nc' }]],
    repairs: [said.keys],
  },
  {
    text: "<start_function_call>call:send{to:<escape>a@b.c<escape>,options:{urgent:true,cc:[]}}<end_function_call>",
    calls: [["send", { to: "a@b.c", options: { urgent: true, cc: [] } }]],
    repairs: [said.keys],
  },
  { text: "<start_function_call>call:list_files{}<end_function_call>", calls: [["list_files", {}]] },
  {
    text: "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call><start_function_response>response:get_weather{value:<escape>sunny<escape>}<end_function_response>It is sunny.",
    calls: [paris],
    repairs: [said.keys],
  },
  { text: "<start_function_call>call:get_weather{city:<escape>Par", problems: ["cut-off"] },
  { text: "<start_function_call>call:get_weather{city:<escape>Par}<end_function_call>", problems: ["unreadable"] },
  { text: '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>', calls: [paris], repairs: [said.keys] },
  {
    text: '<|tool_call>call:search{query:<|"|>the "best" cats}<|"|>,limit:2}<tool_call|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
    calls: [["search", { query: 'the "best" cats}', limit: 2 }], paris],
    repairs: [said.keys, said.keys],
  },
];
