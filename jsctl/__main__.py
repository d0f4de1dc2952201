"""`python -m jsctl`."""

from jsctl.app import main

if __name__ == "__main__":
    main()
