"""Runs one program that a model wrote, inside a sandbox. The program comes on standard input with its names; calls of tools and
the result go over descriptor 3, one JSON-RPC message a line."""

import ast
import asyncio
import inspect
import json
import os
import signal
import socket
import sys
import traceback

FILE = "<program>"


class ToolError(Exception):
    """A tool that was called has failed."""

    def __init__(self, message, code, tool, details=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.tool = tool
        self.details = details


class Channel:
    """The way out: calls, and the end."""

    def __init__(self, aliases):
        self._socket = socket.socket(fileno=3)
        self._aliases = aliases
        self._waiting = {}
        self._last = 0

    async def open(self):
        self._reader, self._writer = await asyncio.open_connection(sock=self._socket, limit=1 << 27)
        self._task = asyncio.ensure_future(self._read())

    def call(self, path, value):
        self._last += 1
        answer = asyncio.get_running_loop().create_future()
        tool = self._aliases.get(path, path)
        self._waiting[self._last] = (answer, tool)
        self._send({"id": self._last, "method": "call", "params": {"tool": tool, "input": value}})
        return answer

    def end(self, **params):
        """Says how the program ended. The socket blocks again, so that all of it is written."""
        text = json.dumps({"jsonrpc": "2.0", "method": "end", "params": params})
        self._socket.setblocking(True)
        self._socket.sendall(text.encode() + b"\n")

    def _send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False)
        self._writer.write(text.encode() + b"\n")

    async def _read(self):
        while line := await self._reader.readline():
            message = json.loads(line)
            answer, tool = self._waiting.pop(message["id"])
            if answer.done():
                continue
            if "error" in message:
                error = message["error"]
                data = error["data"]
                answer.set_exception(ToolError(error["message"], data["code"], tool, data.get("details")))
                # A failure that nobody waits for is in the list of calls.
                answer.exception()
            else:
                answer.set_result(message["result"])


class Tool:
    """A tool, or the owner of tools: `tools.owner.name(field=value)`, `tools["owner/name"]({"field": value})`."""

    def __init__(self, channel, path):
        self._channel = channel
        self._path = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name):
        return Tool(self._channel, name if self._path == "" else f"{self._path}/{name}")

    def __call__(self, value=None, **fields):
        return self._channel.call(self._path, {**(value or {}), **fields})


def to_main(tree):
    """Makes a function of the program, so that it may await and return; the value of its last expression is its result."""
    if isinstance(tree.body[-1] if tree.body else None, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Return(tree.body[-1].value), tree.body[-1])
    main = ast.parse("async def __main__(): pass").body[0]
    main.body = tree.body or main.body
    return ast.fix_missing_locations(ast.Module([main], []))


def describe(error):
    line = None
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line = error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == FILE:
                line = frame.lineno
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    name = type(error).__name__
    return (f"{name}: {text}" if text else name)[:4000] + (f" (line {line})" if line else "")


async def run(source, channel):
    await channel.open()
    code = compile(to_main(ast.parse(source, FILE)), FILE, "exec")
    tools = Tool(channel, "")
    scope = {"__name__": "__main__", "__builtins__": __builtins__, "tools": tools, "ToolError": ToolError}
    exec(code, scope)
    result = await scope["__main__"]()
    if callable(result) and not isinstance(result, Tool):
        result = result()
    return await result if inspect.isawaitable(result) else result


def main():
    start = json.load(sys.stdin)
    channel = Channel(start["aliases"])

    def finish(**params):
        sys.stdout.flush()
        sys.stderr.flush()
        channel.end(**params)
        os._exit(0)

    signal.signal(signal.SIGPROF, lambda *_: finish(status="out-of-time"))
    signal.setitimer(signal.ITIMER_PROF, start["cpuMs"] / 1000)
    try:
        result = asyncio.run(run(start["source"], channel))
    except MemoryError:
        finish(status="out-of-memory")
    except BaseException as error:  # also SystemExit, which a program may raise
        finish(status="failed", reason=describe(error))
    try:
        text = json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        finish(status="no-json", found=str(error)[:1000])
    finish(status="ok", json=text)


main()
