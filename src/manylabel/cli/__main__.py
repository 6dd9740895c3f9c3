from manylabel.cli.app import main

main()
