"""The routes.

They check who asks and what is said, append to the mailbox or read the log, and run nothing themselves.
"""
