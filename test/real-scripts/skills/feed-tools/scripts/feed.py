#!/usr/bin/env python3
"""List the entries of an RSS file."""
import argparse
import xml.etree.ElementTree as ET

parser = argparse.ArgumentParser(description="List the entries of an RSS file.")
parser.add_argument("feed", help="RSS file")
parser.add_argument("--limit", type=int, default=10, help="how many entries")
args = parser.parse_args()
for item in ET.parse(args.feed).getroot().findall("./channel/item")[: args.limit]:
    print(f"{item.findtext('title')} <{item.findtext('link')}>")
