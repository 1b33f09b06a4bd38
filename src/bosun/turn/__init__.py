"""One turn: from a batch of messages to an answer, a silence or a failure that people see, committed once."""
