"""Every word that a model reads before the conversation itself is put together here, behind one interface."""
