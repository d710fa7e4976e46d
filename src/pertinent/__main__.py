"""Run the command line as `python -m pertinent`."""

from .surfaces.cli import main

if __name__ == "__main__":
    main()
