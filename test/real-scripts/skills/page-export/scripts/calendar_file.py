#!/usr/bin/env python3
"""Make a calendar entry."""
import argparse
import datetime


def main():
    parser = argparse.ArgumentParser(description="Make a calendar entry.")
    parser.add_argument("--title", required=True)
    parser.add_argument("--date", required=True, type=datetime.date.fromisoformat, help="YYYY-MM-DD")
    parser.add_argument("-o", "--out", type=argparse.FileType("w", encoding="utf-8"), default="-", help="file to write")
    args = parser.parse_args()
    args.out.write(f"BEGIN:VEVENT\nSUMMARY:{args.title}\nDTSTART:{args.date:%Y%m%d}\nEND:VEVENT\n")
    if args.out.name != "<stdout>":
        print("done")


if __name__ == "__main__":
    main()
