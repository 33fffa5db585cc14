-- What those who watch the service ask of an evaluation beside its entries, and what lists say of a log that was left.
--
-- waits_for, waits_since   what it waits for, as a word of service/observing/evaluation_metrics.py, and since when; `pause`
--                          says it to people
-- ceiling_used             the share of its ceiling that its scored debates have cost
-- ceiling_needed           what all of its debates would cost at the present cost of one, as a share of its ceiling; NULL
--                          while few are scored
ALTER TABLE gainsay.evaluation ADD COLUMN waits_for text;
ALTER TABLE gainsay.evaluation ADD COLUMN waits_since timestamptz;
ALTER TABLE gainsay.evaluation ADD COLUMN ceiling_used float8;
ALTER TABLE gainsay.evaluation ADD COLUMN ceiling_needed float8;

-- Whether a tenant has left a log after an incident, so that nothing more of it is ever signed: `left_logs` of
-- service/store/queries.sql. Callers read no incident, and their lists need the answer.
CREATE FUNCTION gainsay.log_left(name text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM gainsay.incident i JOIN gainsay.log_epoch g ON g.log = i.log JOIN gainsay.log_epoch n USING (tenant)
        WHERE i.log = log_left.name AND i.closes IS NULL AND n.epoch > g.epoch
          AND (SELECT c.at FROM gainsay.checkpoint c WHERE c.log = i.log ORDER BY c.size DESC LIMIT 1)
              > i.at + interval '1 minute' IS NOT TRUE);
END;
REVOKE EXECUTE ON FUNCTION gainsay.log_left(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.log_left(text) TO gainsay_api, gainsay_writer;

-- The state in which a list shows a debate: as `told_state`, but one that has ended in a log that was left, and whose end is
-- not proven, does not run for ever.
CREATE FUNCTION gainsay.listed_state(of_debate uuid, of_log text, last_n integer, state text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE
        WHEN state IN ('queued', 'running') THEN state
        WHEN gainsay.told_state(of_debate, of_log, last_n, state) <> 'running' THEN state
        WHEN gainsay.log_left(of_log) THEN 'failed'
        ELSE 'running' END
$$;
REVOKE EXECUTE ON FUNCTION gainsay.listed_state(uuid, text, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.listed_state(uuid, text, integer, text) TO gainsay_api, gainsay_writer;

-- The log of the records of an evaluation, all of which are in one.
CREATE FUNCTION gainsay.evaluation_log(of_evaluation uuid, of_tenant text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(
        (SELECT l.log FROM gainsay.leaf l WHERE l.debate = v.record AND l.n = 0),
        (SELECT p.log FROM gainsay.pending p WHERE p.debate = v.record AND p.n = 0))
    FROM gainsay.evaluation_entry v WHERE v.tenant = of_tenant AND v.evaluation = of_evaluation AND v.n = 0
$$;
REVOKE EXECUTE ON FUNCTION gainsay.evaluation_log(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.evaluation_log(uuid, text) TO gainsay_api, gainsay_writer;

-- Whether an evaluation has ended in a log that its tenant has left after an incident, with an entry that no checkpoint covers:
-- none ever will.
CREATE FUNCTION gainsay.end_is_lost(of_evaluation uuid, of_tenant text, ended timestamptz) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN ended IS NULL OR NOT coalesce(gainsay.log_left(gainsay.evaluation_log(of_evaluation, of_tenant)), false)
        THEN false
        ELSE EXISTS (
            SELECT FROM gainsay.evaluation_entry v
            WHERE v.tenant = of_tenant AND v.evaluation = of_evaluation
              AND NOT EXISTS (
                SELECT FROM gainsay.leaf l WHERE l.debate = v.record AND l.n = 0
                  AND l.idx < (SELECT max(c.size) FROM gainsay.checkpoint c WHERE c.log = l.log))) END
$$;
REVOKE EXECUTE ON FUNCTION gainsay.end_is_lost(uuid, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.end_is_lost(uuid, text, timestamptz) TO gainsay_api, gainsay_writer;
