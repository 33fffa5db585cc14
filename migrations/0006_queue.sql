-- Which debate is taken next, by whom, and for how long.
--
-- What the version before this one writes is still understood: a head without `due` is due an hour after it came, one
-- without `lease_s` has a lease that only `lease_until` tells of, and one without `templates` may be tried by anybody.

-- due        what is taken first within a tenant: the deadline, or an hour after the debate came if that is earlier
-- lease_s    for how long the lease was last taken or kept: one that ends later than that from now was given by a clock
--            that has been set back since
-- templates  SHA-256 over the pins of the templates that its requests are laid out by: workers that have others leave it
ALTER TABLE gainsay.debate_head
    ADD COLUMN due timestamptz,
    ADD COLUMN lease_s float8,
    ADD COLUMN templates text;
ALTER TABLE gainsay.debate_head ALTER COLUMN due SET DEFAULT clock_timestamp() + interval '1 hour';
