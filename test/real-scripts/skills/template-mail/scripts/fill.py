#!/usr/bin/env python3
"""Fill in a template for each person of a table."""
import argparse
import csv
import os

parser = argparse.ArgumentParser(description="Fill in a template for each person of a table.")
parser.add_argument("--template", required=True, help="text file with {column} in it")
parser.add_argument("--people", required=True, help="CSV file with a column name")
parser.add_argument("--out-dir", required=True, help="folder for the mails")
args = parser.parse_args()
os.makedirs(args.out_dir, exist_ok=True)
template = open(args.template).read()
count = 0
for row in csv.DictReader(open(args.people)):
    with open(os.path.join(args.out_dir, f"{row['name'].lower()}.txt"), "w") as mail:
        mail.write(template.format(**row))
    count += 1
print(f"{count} mails written to {args.out_dir}/")
