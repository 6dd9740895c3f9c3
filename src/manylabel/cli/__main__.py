from manylabel.cli.app import main

# A process that this one starts imports the module again.
if __name__ == "__main__":
    main()
