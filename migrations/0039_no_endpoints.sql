-- The end of a debate of a tenant without endpoints reads one row of an index, and no more. The statement below it would be
-- made ready to insert each time, which takes several times as long.
CREATE OR REPLACE FUNCTION gainsay.notify_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM gainsay.webhook w WHERE w.tenant = NEW.tenant AND w.disabled IS NULL) THEN
        RETURN NULL;
    END IF;
    -- `created` keeps a head row that is written again from its records from being sent to later endpoints.
    INSERT INTO gainsay.webhook_delivery (id, tenant, webhook, debate, n, status, last_record, state)
    SELECT gainsay.new_opaque_id('msg_'), NEW.tenant, w.id, NEW.debate, NEW.next_n - 1, NEW.state, NEW.last_hash, 'recorded'
    FROM gainsay.webhook w
    WHERE w.tenant = NEW.tenant AND w.disabled IS NULL AND (w.reach = 'tenant' OR w.subject = NEW.subject)
      AND (TG_OP = 'UPDATE' OR w.created <= NEW.created)
      AND NOT EXISTS (SELECT FROM gainsay.subject s WHERE s.id = w.subject AND s.revoked IS NOT NULL)
      AND NOT EXISTS (SELECT FROM gainsay.found_by f
                      WHERE f.tenant = NEW.tenant AND f.debate = NEW.debate AND f.evaluation IS NOT NULL)
    ON CONFLICT (webhook, debate) DO NOTHING;
    RETURN NULL;
END $$;
