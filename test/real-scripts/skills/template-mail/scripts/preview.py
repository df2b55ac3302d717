#!/usr/bin/env python3
"""Show what a template becomes."""
import argparse

parser = argparse.ArgumentParser(description="Show what a template becomes.")
parser.add_argument("template", help="the text, with {names} in it")
parser.add_argument("values", nargs="*", default=[], metavar="NAME=VALUE")
parser.add_argument("--upper", action="store_true")
args = parser.parse_args()
text = args.template.format(**dict(value.split("=", 1) for value in args.values))
print(text.upper() if args.upper else text)
