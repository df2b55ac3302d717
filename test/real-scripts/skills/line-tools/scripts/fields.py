#!/usr/bin/env python3
import argparse
import csv


def build_parser():
    p = argparse.ArgumentParser(description="Print one field of a tab separated table.")
    p.add_argument("--field", "-f", required=True, help="name of the field")
    p.add_argument("table", nargs="?", type=argparse.FileType("r"), default="-", help="table to read (default: stdin)")
    return p


if __name__ == "__main__":
    opts = build_parser().parse_args()
    for row in csv.DictReader(opts.table, delimiter="\t"):
        print(row[opts.field])
