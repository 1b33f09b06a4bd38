"""Sets up Pants on a machine that has none; `/pants` starts it. Needs Python 3.8's standard library only."""
