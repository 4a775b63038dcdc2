"""`python -m isogloss` is `isogloss`: launchers of many processes start modules."""

from isogloss.cli.main import main

if __name__ == "__main__":
    main()
