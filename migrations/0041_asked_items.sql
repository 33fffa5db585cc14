-- Record with the debate of an item, in the transaction that opens it, that the item was asked: so no debate is opened that no
-- entry of its evaluation names, whatever comes between. False, and nothing is written, where the number of the entry is taken
-- (by a stop, by another feeder), the evaluation has ended, or the debate was opened before. Others that open a debate of this
-- tenant's evaluations wait, so none gets the key in between. `open_debate` stages the record behind those of the debate: in a
-- log a debate begins before an entry names it.
CREATE FUNCTION gainsay.record_asked(
    of_tenant text, of_evaluation uuid, of_n integer, of_record uuid, leaf bytea, salt bytea, body bytea,
    of_key bytea) RETURNS boolean
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM gainsay.lock_evaluations(of_tenant);
    IF EXISTS (SELECT FROM gainsay.idempotency_key k WHERE k.tenant = of_tenant AND k.key = of_key) THEN
        RETURN false;
    END IF;
    INSERT INTO gainsay.evaluation_entry (tenant, evaluation, n, record)
    SELECT e.tenant, e.evaluation, of_n, of_record FROM gainsay.evaluation e
    WHERE e.tenant = of_tenant AND e.evaluation = of_evaluation AND e.ended IS NULL
    ON CONFLICT (tenant, evaluation, n) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO gainsay.entry (debate, n, leaf, tenant) VALUES (of_record, 0, leaf, of_tenant);
    INSERT INTO gainsay.payload (debate, n, salt, body, tenant) VALUES (of_record, 0, salt, body, of_tenant);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION gainsay.record_asked(text, uuid, integer, uuid, bytea, bytea, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.record_asked(text, uuid, integer, uuid, bytea, bytea, bytea, bytea)
    TO gainsay_writer, gainsay_api;
