import { call, parameter, tool, type LocalRequest } from "./request.ts";

const number = parameter("number");
const string = parameter("string");

/** The tools of the examples in README and the guide. */
export const exampleTools = [
  tool("add", "Adds two numbers", { a: number(), b: number() }, ["a", "b"]),
  tool("convert", "Converts euros to dollars", { euros: number() }, ["euros"]),
  tool(
    "convert-distance",
    "Converts a distance from one unit to another",
    { value: number(), from: string(), to: { enum: ["km", "miles"] } },
    ["value", "from", "to"],
  ),
  tool("get_weather", "Tells the weather of a city.", { city: string() }, ["city"]),
  tool("send_note", "Sends a note.", { to: string("who gets it"), text: string() }, ["to", "text"]),
  tool("hash_text", "Computes the hash of a text", { text: string() }, ["text"]),
];

export const exampleRequests: readonly LocalRequest[] = [
  { ask: "Add 19 and 23", want: call("add", { a: 19, b: 23 }) },
  { ask: "Convert 21 euros", want: call("convert", { euros: 21 }) },
  { ask: "Convert 10 miles to km", want: call("convert-distance", { value: 10, from: "miles", to: "km" }) },
  { ask: "What is the weather in Lisbon?", want: call("get_weather", { city: "Lisbon" }) },
  { ask: ["tell me the weather", "Lisbon"], want: call("get_weather", { city: "Lisbon" }) },
  { ask: ["send a note", "to: Kim, text: see you"], want: call("send_note", { to: "Kim", text: "see you" }) },
  { ask: ["send a note", "to: Kim", "see you"], want: call("send_note", { to: "Kim", text: "see you" }) },
  { ask: ["send a note", "never mind"], want: "decline" },
  { ask: ["send a note", "what is the weather in Oslo?"], want: call("get_weather", { city: "Oslo" }) },
  { ask: "send_note to=Kim text='see you'", want: call("send_note", { to: "Kim", text: "see you" }) },
  { ask: 'send_note {"to": "Kim", "text": "see you"}', want: call("send_note", { to: "Kim", text: "see you" }) },
  { ask: "add --a 2 --b 3", want: call("add", { a: 2, b: 3 }) },
  { ask: "add 1", want: "ask" },
  { ask: "what is 17 * 23", want: "decline" },
  { ask: "what is 12 + 30?", want: "decline" },
  { ask: "don't send a note to Kim", want: "decline" },
  { ask: "if it rains in Oslo, send a note to Kim", want: "decline" },
];
