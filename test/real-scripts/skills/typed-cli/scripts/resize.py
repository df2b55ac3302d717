#!/usr/bin/env python3
"""Say how large a picture would become."""
from pathlib import Path

import typer

app = typer.Typer()


@app.command()
def resize(picture: Path = typer.Argument(..., help="picture file"), width: int = 100, force: bool = False):
    """Say how large a picture would become."""
    typer.echo(f"{picture.name}: {width} wide")


if __name__ == "__main__":
    app()
