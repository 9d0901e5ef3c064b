"""`python -m paramcount`."""

from paramcount.cli import main

raise SystemExit(main())
