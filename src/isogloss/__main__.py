"""Entry point of `python -m isogloss`, for process launchers."""

from isogloss.cli.main import main

if __name__ == "__main__":
    main()
