"""An embedded PostgreSQL server, shared by the processes of one machine."""
