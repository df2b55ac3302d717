import { call, parameter, tool, type LocalRequest } from "./request.ts";

const integer = parameter("integer");
const number = parameter("number");
const string = parameter("string");

/** The tools of a bakery. */
export const bakeryTools = [
  tool(
    "createOrder",
    "Creates an order for a customer",
    {
      customer: string("name of the customer"),
      product: string("what they want"),
      quantity: integer("how many", { minimum: 1 }),
      pickup: string("day of pick-up", { format: "date" }),
    },
    ["customer", "product", "quantity"],
  ),
  tool("cancelOrder", "Cancels an order", { order_id: integer("the number of the order") }, ["order_id"]),
  tool("listOrders", "Lists the orders of a day, or of a customer", {
    date: string("the day", { format: "date" }),
    customer: string("only of this customer"),
  }),
  tool("getRecipe", "Returns the recipe of a product", { product: string("the product") }, ["product"]),
  tool(
    "scaleRecipe",
    "Computes the ingredients of a recipe for another number of pieces",
    { product: string("the product"), pieces: integer("how many pieces") },
    ["product", "pieces"],
  ),
  tool(
    "setOvenTemperature",
    "Sets the temperature of an oven in degrees Celsius",
    { oven: integer("number of the oven"), celsius: integer("degrees", { minimum: 0, maximum: 300 }) },
    ["oven", "celsius"],
  ),
  tool("ovenStatus", "Shows the temperature and the timer of an oven", { oven: integer("number of the oven") }, [
    "oven",
  ]),
  tool("checkStock", "Tells how much of an ingredient is in stock", { ingredient: string("the ingredient") }, [
    "ingredient",
  ]),
  tool(
    "sendMessage",
    "Sends a text message to a customer",
    { customer: string("who gets it"), text: string("the message") },
    ["customer", "text"],
  ),
  tool(
    "convertWeight",
    "Converts a weight between units",
    {
      value: number(),
      from: string("unit", { enum: ["g", "kg", "oz", "lb"] }),
      to: string("unit", { enum: ["g", "kg", "oz", "lb"] }),
    },
    ["value", "from", "to"],
  ),
];

export const bakeryRequests: readonly LocalRequest[] = [
  { ask: "get the recipe of croissants", want: call("getRecipe", { product: "croissants" }) },
  { ask: "show the status of oven 2", want: call("ovenStatus", { oven: 2 }) },
  { ask: "set oven temperature oven=1 celsius=220", want: call("setOvenTemperature", { oven: 1, celsius: 220 }) },
  { ask: "cancel order 4711", want: call("cancelOrder", { order_id: 4711 }) },
  { ask: "list orders of 2026-11-20", want: call("listOrders", { date: "2026-11-20" }) },
  { ask: "convert 500 g to oz", want: call("convertWeight", { value: 500, from: "g", to: "oz" }) },
  { ask: 'how much "rye flour" is in stock?', want: call("checkStock", { ingredient: "rye flour" }) },
  {
    ask: "check the stock of butter, then show the status of oven 1",
    want: [
      ["checkStock", { ingredient: "butter" }],
      ["ovenStatus", { oven: 1 }],
    ],
  },
  { ask: 'create an order for customer "Ida Berg"', want: "ask" },
  { ask: "don't cancel order 12", want: "decline" },
  { ask: "is it a good idea to raise the oven to 260?", want: "decline" },
];
