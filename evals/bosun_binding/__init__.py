"""How Seatrial makes and drives Bosun."""
