"""Bosun: a team agent that answers people, as a service.

Start reading at `app.py`; the seams are in `options.py`.
"""
