/** A program to debug: python. */
export const python = `import sys
def double(number):
    result = {"of": number, "list": [1, {"deep": "x"}]}
    return result["of"] * 2
total = 0
for index in range(3):
    # A comment
    total += double(index)
print(total)
`;

/** A program to debug: javascript. */
export const javascript = `const list = [0, 1, 2];
function double(number) {
  const result = { of: number, list: [1, { deep: "x" }] };
  return result.of * 2;
}
let total = 0;
for (const index of list) {
  total += double(index);
}
console.log(total);
`;

/** Finds the connection of its debugger, and writes to it. */
export const nonsense = `import os, stat, time
for number in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            os.write(number, b"Content-Length: x\\r\\n\\r\\n" * 10)
    except OSError:
        pass
time.sleep(600)
`;

/** A program to debug: pythonThrows. */
export const pythonThrows = `def fail():
    secret = 41
    raise ValueError("boom")
try:
    raise KeyError("caught")
except KeyError:
    pass
fail()
`;

/** A program to debug: throws. */
export const throws = `function fail() {
  const secret = 41;
  throw new Error("boom");
}
fail();
`;

/** A program to debug: pythonLoops. */
export const pythonLoops = `import time
turn = 0
while True:
    turn += 1
    print("turn", turn)
    time.sleep(0.01)
`;

/** A program to debug: loops. */
export const loops = `let turn = 0;
for (;;) {
  turn += 1;
  console.log("turn", turn);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
}
`;

/** A program to debug: typescript. */
export const typescript = javascript
  .replace("(number)", "(number: number): number")
  .replace("let total", "let total: number");
