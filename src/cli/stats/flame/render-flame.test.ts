import { expect, test } from "vitest";

import { callTree } from "../../../../test/support/call-trees.ts";
import { renderFlame } from "./render-flame.ts";

test("renderFlame() draws a box for each call, with where it is and what is known of it", () => {
  const page = renderFlame(
    callTree(
      "top",
      [0, 100],
      [
        callTree("geo/place", [10, 40], [], { queuedMs: 5, code: "tool-failed" }),
        callTree("geo/place", [60, 20], [], { recalled: true }),
        callTree("last", [90, 0], [], { status: "open" }),
      ],
    ),
  );

  expect(page.match(/<button[^]*?<\/button>/gu)).toMatchInlineSnapshot(`
    [
      "<button class="box" style="left:0%;width:100%;top:0px;background:hsl(274 65% 74%)" data-start="0" data-length="100" title="top (top-0)
    100 ms, from 0 ms on · 3 calls inside, together 60 ms">top</button>",
      "<button class="box failed" style="left:10%;width:40%;top:21px;background:hsl(297 65% 74%)" data-start="10" data-length="40" title="geo/place (geo/place-10)
    40 ms, from 10 ms on · waited 5 ms · failed: tool-failed">geo/place</button>",
      "<button class="box recalled" style="left:60%;width:20%;top:21px;background:hsl(297 65% 74%)" data-start="60" data-length="20" title="geo/place (geo/place-60)
    20 ms, from 60 ms on · recalled: the tool was not run">geo/place</button>",
      "<button class="box open" style="left:90%;width:0%;top:21px;background:hsl(319 65% 74%)" data-start="90" data-length="0" title="last (last-90)
    0 ms, from 90 ms on · its end is not in the log">last</button>",
    ]
  `);
  expect(page).toContain("<title>top: 100 ms</title>");
  expect(page).toContain("3 calls inside");
});

test("renderFlame() sums up how long each tool took, with and without the calls inside it", () => {
  const inside = [callTree("a", [10, 40]), callTree("a", [20, 40], [], { code: "tool-failed" })];
  const page = renderFlame(callTree("top", [0, 100], inside));

  expect(
    page.match(/<tr><td>.*<\/tr>/gu)?.map((row) => row.replaceAll(/<[^>]*>/gu, " ").replaceAll(/ +/gu, " ")),
  ).toEqual([" a 2 1 80 ms 80 ms ", " top 1 0 100 ms 50 ms "]);
});

test("renderFlame() makes a page that loads nothing, and in which no text becomes code", () => {
  const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)>&\u202E\u001B[31m\n`;
  const page = renderFlame(callTree(hostile, [0, 1], [callTree(hostile, [0, 1], [], { code: hostile })]));

  expect(page.match(/<script/gu)).toHaveLength(1);
  expect(page).not.toMatch(/<img|\u202E|\u001B/u);
  expect(page).not.toMatch(/(?:src|href)=["']?(?!x onerror)/u);
  expect(page).not.toMatch(/https?:/u);
  expect(page).toMatch(/default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[A-Za-z0-9+/]{43}='/u);
  const attributes = page.match(/title="[^"]*"/gu) ?? [];
  expect(attributes).toHaveLength(2);
});

test("renderFlame() draws a call that took no time", () => {
  const page = renderFlame(callTree("quick", [0, 0]));

  expect(page).toContain("no calls inside");
  expect(page).not.toMatch(/NaN|Infinity/u);
});

test("renderFlame() says how many calls it does not draw", () => {
  const many = Array.from({ length: 5005 }, (_, index) => callTree("a", [index, 1]));
  const page = renderFlame(callTree("top", [0, 6000], many));

  expect(page).toContain("the 6 shortest are not drawn");
});
