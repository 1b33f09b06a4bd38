"""What a trial leaves behind for people and for other tools."""
