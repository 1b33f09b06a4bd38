"""The structure gates' checkers: pure functions from source text to findings.

Each module holds one concept. What a rule says (rooms, banned names, patterns) is data; `check…` functions
find all violations and return them; `finding.render` words them. The gates beside this package
(`tests/structure/test_*.py`) read the repository's files, call the checkers and raise once; `test_rules_*.py`
feed the checkers bad text and see exactly the violation.
"""
