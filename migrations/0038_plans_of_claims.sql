-- Each connection plans `claim_in_turn` once. It has the plans of its statements made for some typical values, which are
-- those of any others: what it reads by index and in order does not depend on them. PostgreSQL would plan them anew for
-- the first five calls of each connection, and each time for longer than they run.
ALTER FUNCTION gainsay.claim_in_turn(text, float8, text[], text, uuid, uuid[], integer, integer, integer, jsonb, float8)
    SET plan_cache_mode = force_generic_plan;
