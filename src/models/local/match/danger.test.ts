import { expect, test } from "vitest";

import type { ModelTool } from "../../model.ts";
import { readRequest } from "../text/read-request.ts";
import { asksAbout, isChanging, isReading } from "./danger.ts";

test.for([
  ["add_item", "Adds an item to the list."],
  ["update_record", "Looks up a record and updates the address."],
  ["thermostat", "Thermostat: sets the temperature of a room."],
  ["messenger", "Use this tool to send messages."],
  ["files", "Move or rename files."],
  ["label_mail", ""],
  ["scale", "Scale a deployment to a number of replicas."],
  ["pay", "Makes a payment."],
])("isChanging() takes %s for something that changes things: %s", ([name = "", description = ""]) => {
  expect(isChanging(tool(name, description))).toBe(true);
});

test("isChanging() looks at the parameters if no verb tells", () => {
  const properties = { state: { enum: ["on", "off"] } };

  expect(isChanging(tool("lamp", "The lamp in the hall.", properties))).toBe(true);
  expect(isChanging(tool("lamp", "Tells whether the lamp in the hall shines.", properties))).toBe(false);
});

test.for([
  ["archive_list", "List what is in an archive"],
  ["stock_price", "Current price of a share"],
  ["add_days", "Adds days to a date, and tells which date that is."],
  ["search_files", "Recursively search for files."],
  ["thumbnail", "Makes a thumbnail of a picture."],
])("isChanging() takes %s for something that changes nothing: %s", ([name = "", description = ""]) => {
  expect(isChanging(tool(name, description))).toBe(false);
});

test("isReading() needs a word that says so", () => {
  expect(isReading(tool("stock_price", "Current price of a share"))).toBe(false);
  expect(isReading(tool("get_price", "Price of a share"))).toBe(true);
});

test.for([
  ["should we restart nginx?", true],
  ["could you restart nginx?", false],
  ["is nginx running?", true],
  ["restart nginx", false],
] as const)("asksAbout(%j) is %s", ([text, expected]) => {
  expect(asksAbout(readRequest(text))).toBe(expected);
});

function tool(name: string, description: string, properties: Readonly<Record<string, object>> = {}): ModelTool {
  return { type: "function", name, description, inputSchema: { type: "object", properties } };
}
