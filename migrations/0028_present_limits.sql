-- The rows of the present day and month, of all tenants: what metrics of tenants' money read every some seconds. The
-- primary key begins with the tenant.
CREATE INDEX spend_limit_present ON gainsay.spend_limit (starts, period);
