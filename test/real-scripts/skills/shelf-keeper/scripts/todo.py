#!/usr/bin/env python3
"""A list of things to do in TODO.txt of the current directory."""
import argparse
import os

FILE = "TODO.txt"


def add(args):
    with open(FILE, "a") as f:
        f.write(args.text + "\n")
    print("added:", args.text)


def show(args):
    if not os.path.exists(FILE):
        print("nothing to do")
        return
    for number, line in enumerate(open(FILE), 1):
        print(f"{number}. {line.rstrip()}")


parser = argparse.ArgumentParser(description=__doc__)
commands = parser.add_subparsers(dest="command", required=True)
p = commands.add_parser("add", help="add a line")
p.add_argument("text")
p.set_defaults(run=add)
p = commands.add_parser("list", help="show all lines")
p.set_defaults(run=show)
args = parser.parse_args()
args.run(args)
