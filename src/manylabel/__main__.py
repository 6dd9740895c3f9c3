"""``python -m manylabel`` is the command line."""

from manylabel.cli import main

# A process that this one starts imports the module again.
if __name__ == "__main__":
    main()
