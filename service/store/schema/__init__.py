"""What a database must be: migrations, roles, protections, sessions."""
