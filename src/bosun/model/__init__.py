"""The model: one client for every part of Bosun that asks, the kinds of its failures, and small jobs that ask it."""
