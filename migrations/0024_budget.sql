-- What a tenant's running debates have been allocated of one period and have not spent: it comes back when they end, as
-- far as they do not spend it. A caller reads it of its own tenant, as a part of GET /v1/budget. The draws and charges
-- themselves stay closed to the login that serves callers; so this function reads them, as the owner.
--
-- It is STABLE: within a statement it sees what that statement sees, so the amount fits the row of `spend_limit` beside
-- it. Few debates run at a time, and debate_head_running finds them; one that was handed back waits as `queued`.
CREATE FUNCTION gainsay.unspent_allocations(of_tenant text, of_period text, from_day date) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(sum(part.amount), 0)::bigint
    FROM gainsay.debate_head h CROSS JOIN LATERAL (
        SELECT d.amount FROM gainsay.draw d
        WHERE d.debate = h.debate AND from_day = CASE of_period WHEN 'day' THEN d.period_day ELSE d.period_month END
        UNION ALL
        SELECT c.excess - c.amount FROM gainsay.charge c
        WHERE c.debate = h.debate AND from_day = CASE of_period WHEN 'day' THEN c.period_day ELSE c.period_month END
    ) AS part
    WHERE h.tenant = of_tenant AND h.state IN ('queued', 'running') AND h.draws > 0
      AND (of_tenant = gainsay.current_tenant() OR pg_has_role(session_user, 'gainsay_writer', 'MEMBER'));
END;
REVOKE EXECUTE ON FUNCTION gainsay.unspent_allocations(text, text, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.unspent_allocations(text, text, date) TO gainsay_api, gainsay_writer;
