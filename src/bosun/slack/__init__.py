"""Slack: what it sends, made into data, and what Bosun says there.

An app without Slack loads nothing of it but the name of a thread.
"""
