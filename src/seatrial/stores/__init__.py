"""Where the agent under test gets its PostgreSQL and Redis."""
