-- The end of an evaluation as it is shown: one that has ended runs until a signed head covers its last entry, as
-- `told_state` has it of a debate. An end that no head will ever cover is shown too: it is lost (0037).
CREATE FUNCTION gainsay.shown_end(of_evaluation uuid, of_tenant text, ended timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT CASE
        WHEN ended IS NULL THEN NULL
        WHEN (SELECT EXISTS (SELECT FROM gainsay.leaf l WHERE l.debate = v.record AND l.n = 0
                             AND l.idx < (SELECT max(c.size) FROM gainsay.checkpoint c WHERE c.log = l.log))
              FROM gainsay.evaluation_entry v WHERE v.tenant = of_tenant AND v.evaluation = of_evaluation
              ORDER BY v.n DESC LIMIT 1) THEN ended
        WHEN gainsay.end_is_lost(of_evaluation, of_tenant, ended) THEN ended END
$$;
REVOKE EXECUTE ON FUNCTION gainsay.shown_end(uuid, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.shown_end(uuid, text, timestamptz) TO gainsay_api, gainsay_writer;
