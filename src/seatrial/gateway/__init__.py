"""The model gateway: all model traffic of an agent passes it; it replays what was recorded, strictly."""
