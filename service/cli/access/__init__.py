"""What commands need of a service, and the two ways to have it: in this process, or over HTTP.

port         what a command may ask for
place        which of the two it is: ``--server``, ``GAINSAY_SERVER``, or this machine's database
in_process   the service's own operations on a database
over_http    a running service, through `gainsay_client`
"""
