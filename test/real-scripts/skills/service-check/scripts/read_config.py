#!/usr/bin/env python3
"""Print a section of a configuration file."""
import argparse
import configparser
import json

parser = argparse.ArgumentParser(description="Print a section of a configuration file.")
parser.add_argument("--config", default="service.ini", help="configuration file")
parser.add_argument("--section", choices=["web", "worker"], default="web")
args = parser.parse_args()
config = configparser.ConfigParser()
config.read(args.config)
print(json.dumps(dict(config[args.section]) if config.has_section(args.section) else {"error": "no such section"}))
