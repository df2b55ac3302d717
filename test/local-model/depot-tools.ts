import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of a depot: cars, parcels, pictures, customers. */
export const depotTools: readonly ModelTool[] = [
  tool(
    "make_thumbnail",
    "Make a thumbnail of a picture",
    {
      image: { type: "string", description: "path of the picture" },
      width: { type: "integer" },
      height: { type: "integer" },
    },
    ["image", "width"],
  ),
  tool(
    "make_labels",
    "Lay out a sheet of labels",
    {
      columns: { type: "integer" },
      rows: { type: "integer" },
      text: { type: "string", description: "what each label says" },
    },
    ["columns", "rows"],
  ),
  tool(
    "rent_car",
    "Find rental cars",
    {
      pickup: { type: "string", description: "city where the car is picked up" },
      dropoff: { type: "string", description: "city where it is given back" },
      date: { type: "string", format: "date" },
      category: { type: "string", enum: ["compact", "midsize", "luxury", "van"] },
    },
    ["pickup", "date"],
  ),
  tool(
    "find_trains",
    "Find train connections between two stations",
    {
      from_station: { type: "string" },
      to_station: { type: "string" },
      date: { type: "string", format: "date" },
      travel_class: { type: "string", enum: ["first", "second"] },
    },
    ["from_station", "to_station"],
  ),
  tool(
    "running_pace",
    "Compute the pace of a run",
    { distance_km: { type: "number" }, duration_minutes: { type: "number" } },
    ["distance_km", "duration_minutes"],
  ),
  tool(
    "shipping_cost",
    "Estimate what it costs to ship a parcel",
    {
      weight_g: { type: "integer", description: "weight of the parcel" },
      length_cm: { type: "number", description: "longest side" },
      country: { type: "string", description: "where it goes" },
    },
    ["weight_g", "country"],
  ),
  tool("set_quota", "Set the disk quota of a user", { user: { type: "string" }, quota_mb: { type: "integer" } }, [
    "user",
    "quota_mb",
  ]),
  tool(
    "find_customer",
    "Find a customer by number, phone or name",
    {
      number: { type: "integer", description: "customer number" },
      phone: { type: "string", description: "phone number" },
      name: { type: "string" },
    },
    [],
  ),
  tool(
    "call_customer",
    "Place a phone call that reads a message aloud",
    { phone: { type: "string", description: "phone number" }, message: { type: "string" } },
    ["phone", "message"],
  ),
  tool(
    "track_parcel",
    "Track a parcel",
    { tracking: { type: "string", description: "tracking number, such as PX-100200" } },
    ["tracking"],
  ),
  tool("stock_level", "Get how many of an article are in stock", { article: { type: "string" } }, ["article"]),
  tool(
    "add_article",
    "Add an article to the shopping list",
    { article: { type: "string" }, quantity: { type: "integer", default: 1 } },
    ["article"],
  ),
  tool(
    "list_incidents",
    "List incidents of the depot",
    { since: { type: "string", format: "date" }, severity: { type: "string", enum: ["minor", "major"] } },
    [],
  ),
  tool(
    "schedule_pickup",
    "Schedule a pickup of parcels",
    { date: { type: "string", format: "date" }, parcels: { type: "integer" } },
    ["date"],
  ),
  tool(
    "get_tides",
    "Get the tides of a harbour",
    { harbour: { type: "string" }, date: { type: "string", format: "date" } },
    ["harbour"],
  ),
  tool(
    "assign_shift",
    "Assign a worker to a shift by the worker's number",
    {
      worker: { type: "integer", description: "number of the worker" },
      shift: { type: "string", enum: ["early", "late", "night"] },
    },
    ["worker", "shift"],
  ),
  tool("start_timer", "Start a timer", { seconds: { type: "integer" }, label: { type: "string" } }, ["seconds"]),
];
