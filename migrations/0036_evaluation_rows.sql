-- Rows of evaluations are made anew from their records (`gainsay rebuild`): those of no record are deleted.

GRANT DELETE ON gainsay.evaluation, gainsay.evaluation_entry TO gainsay_writer;
