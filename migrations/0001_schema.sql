-- What every later migration stands on: nobody has any right here unless a migration gives it, evidence refuses to
-- be changed, and the files that were applied are on record.
--
-- Migrations run as gainsay_owner with search_path = gainsay, pg_temp. The roles gainsay_owner and gainsay_writer and
-- the schema exist already: `gainsay migrate` or an administrator has made them (README.md beside this file).

REVOKE ALL ON SCHEMA gainsay FROM PUBLIC;
GRANT USAGE ON SCHEMA gainsay TO gainsay_writer;
-- PUBLIC may execute new functions and use new types by default. A default for one schema can only add, so this is
-- the owner's default for the whole database.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC;

-- A database that belongs to gainsay_owner holds nothing but Gainsay. One that belongs to somebody else is left as it
-- is: other applications may live there.
DO $$
BEGIN
    IF (SELECT datdba = 'gainsay_owner'::regrole FROM pg_database WHERE datname = current_database()) THEN
        REVOKE ALL ON SCHEMA public FROM PUBLIC;
        EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO gainsay_writer', current_database());
    END IF;
END $$;

-- Attached to a table of evidence by two triggers, both ENABLE ALWAYS so that session_replication_role = replica does
-- not silence them: BEFORE UPDATE OR DELETE (for each row) and BEFORE TRUNCATE (for each statement).
CREATE FUNCTION gainsay.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'GA001',
        MESSAGE = format('%s of %I.%I is refused: evidence is only ever added', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME),
        HINT = 'Write what is true now as a new record.';
END $$;

-- Every applied file with the SHA-256 of its bytes, written in the transaction that applied it.
CREATE TABLE gainsay.migration (
    name       text PRIMARY KEY,
    sha256     bytea NOT NULL CHECK (length(sha256) = 32),
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_by text NOT NULL DEFAULT session_user
);
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.migration
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.migration
    FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.migration ENABLE ALWAYS TRIGGER refuse_change;
ALTER TABLE gainsay.migration ENABLE ALWAYS TRIGGER refuse_truncate;
GRANT SELECT ON gainsay.migration TO gainsay_writer;
