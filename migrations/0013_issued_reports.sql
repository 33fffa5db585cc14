-- The reports whose bytes were recorded when they were first handed out, each with the record that says so: a chain of its
-- own in a log of the tenant. The key lets each be recorded once, whichever process is asked. A projection of the
-- records, which `gainsay rebuild` makes anew; whoever reads a row compares it with its record.
CREATE TABLE gainsay.issued_report (
    debate   uuid NOT NULL,
    form     text NOT NULL,
    paper    text NOT NULL,
    template text NOT NULL,
    sha256   text NOT NULL,
    record   uuid NOT NULL UNIQUE,
    PRIMARY KEY (debate, form, paper, template, sha256)
);

GRANT SELECT, INSERT, DELETE ON gainsay.issued_report TO gainsay_writer;
GRANT SELECT ON gainsay.issued_report TO gainsay_auditor;
