"""The only folder that speaks SQL: pool, queries, log, debates, and the embedded PostgreSQL."""
