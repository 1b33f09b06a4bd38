"""What the build decides, without Pants: verdicts, references of a case, wording, recording.

Nothing here imports Pants, Seatrial or an agent, so that it is tested like any other Python, and on
any version from 3.9 (which Pants runs on) to the one that the project runs on.
"""
