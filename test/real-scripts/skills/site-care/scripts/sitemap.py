#!/usr/bin/env python3
"""Write sitemap.txt with every page below the current directory."""
import os

pages = []
for root, dirs, names in os.walk("."):
    dirs[:] = sorted(d for d in dirs if not d.startswith("."))
    for name in sorted(names):
        if name.endswith((".md", ".html")):
            pages.append(os.path.relpath(os.path.join(root, name), "."))
with open("sitemap.txt", "w") as out:
    out.write("\n".join(pages) + "\n")
print(f"{len(pages)} pages in sitemap.txt")
