-- When somebody was last listening to a debate is of use for some seconds only: after that such a row says no more than
-- none. 0007 kept it for ever; from here on whoever notes listeners takes away what nobody has noted for a minute.
GRANT DELETE ON gainsay.listener TO gainsay_writer;
