import { paris, type Case } from "./case.ts";

function named(name: string): Case {
  const text = `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": {"city": "Paris"}}</tool_call>`;
  return { text, calls: [paris], repairs: [`the name ${JSON.stringify(name)} was read as "get_weather"`] };
}

function unnamed(name: string): Case {
  return {
    text: `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": {"city": "Paris"}}</tool_call>`,
    problems: ["unknown-tool"],
  };
}

function called(name: string, input: string, expected: Omit<Case, "text">): Case {
  return { text: `<tool_call>{"name": "${name}", "arguments": ${input}}</tool_call>`, ...expected };
}

/** Names that are spelt another way, and inputs that do not fit as they are. */
export const nameCases: readonly Case[] = [
  named("Get_Weather"),
  named("GET_WEATHER"),
  named("getWeather"),
  named("GetWeather"),
  named("get-weather"),
  named("get weather"),
  named("get.weather"),
  named(" get_weather "),
  named("functions.get_weather"),
  named("tools/get_weather"),
  unnamed("get_weathers"),
  unnamed("weather"),
  unnamed(""),
  unnamed("get_weather; rm"),
  called("pdf/extract", '{"file": "a.pdf"}', {
    calls: [["pdf__extract", { file: "a.pdf" }]],
    repairs: ['the name "pdf/extract" was read as "pdf__extract"'],
  }),
  called("extract", '{"file": "a.pdf"}', { problems: ["unknown-tool"] }),
  called("get_weather", '{"city": "Paris", "days": "3"}', {
    calls: [["get_weather", { city: "Paris", days: 3 }]],
    repairs: ['days: "3" was read as 3'],
  }),
  called("get_weather", '{"city": 75001}', {
    calls: [["get_weather", { city: "75001" }]],
    repairs: ['city: 75001 was read as "75001"'],
  }),
  called("get_weather", '{"city": "Paris", "days": null}', {
    calls: [paris],
    repairs: ["days: null was read as nothing"],
  }),
  called("set_flag", '{"flag": "a", "value": "yes"}', {
    calls: [["set_flag", { flag: "a", value: true }]],
    repairs: ['value: "yes" was read as true'],
  }),
  called("search", '{"query": "cats", "tags": "a"}', {
    calls: [["search", { query: "cats", tags: ["a"] }]],
    repairs: ['tags: "a" was read as a list of 1'],
  }),
  called("get_weather", '{"City": "Paris"}', { calls: [paris], repairs: ['the property "City" was read as "city"'] }),
  called("get_weather", "{}", { problems: ["input"] }),
  called("get_weather", '{"city": "Paris", "days": 1.5}', { problems: ["input"] }),
  called("get_weather", '{"city": "Paris", "country": "FR"}', { problems: ["input"] }),
  called("get_weather", '{"city": ["Paris"]}', { problems: ["input"] }),
  called("get_weather", '["Paris"]', { problems: ["input"] }),
  called("get_weather", '"Paris"', { calls: [paris], repairs: ['the text was taken as "city"'] }),
  called("write_file", '"Paris"', { problems: ["input"] }),
  called("get_weather", "3", { problems: ["input"] }),
];
