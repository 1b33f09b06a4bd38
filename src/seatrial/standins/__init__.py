"""Third parties as a trial has them: real HTTP on loopback, and the refusals of the real service."""
