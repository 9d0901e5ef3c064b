"""`python -m paramcount`."""

from paramcount.cli.main import main

raise SystemExit(main())
