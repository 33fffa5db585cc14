-- Appends of several debates as one statement: the rows of limits that they move are locked in one order.
--
-- A debate that ends, or that was billed above a reservation, moves the rows that it drew from: its batch's, its tenant's
-- day and month (settle_limits in 0023_batches.sql). A trigger moves them, debate by debate, at the end of the statement.
-- Two statements that move the rows of several tenants and batches could so wait for each other in a circle.

-- Lock what these debates drew from until the end of the transaction: batches by id, then days, then months, each by
-- date and tenant. For a single debate that is the order of draw_tranche and settle_limits. The caller has the head rows
-- of these debates locked, and waits for no other one after this. Whoever holds a limit for long delays a statement of
-- several debates for a second; each of them is asked for alone then, and waits alone.
CREATE FUNCTION gainsay.lock_limits(of_debates uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '1s'
AS $$
BEGIN
    PERFORM FROM gainsay.batch_limit b
    WHERE b.batch IN (SELECT h.batch FROM gainsay.debate_head h WHERE h.debate = ANY (of_debates))
    ORDER BY b.batch FOR NO KEY UPDATE;
    PERFORM FROM gainsay.spend_limit l
    WHERE (l.tenant, l.period, l.starts) IN (
        SELECT d.tenant, p.period, p.starts
        FROM gainsay.draw d, LATERAL (VALUES ('day', d.period_day), ('month', d.period_month)) AS p (period, starts)
        WHERE d.debate = ANY (of_debates))
    ORDER BY l.period, l.starts, l.tenant FOR NO KEY UPDATE;
END $$;
GRANT EXECUTE ON FUNCTION gainsay.lock_limits(uuid[]) TO gainsay_writer;
