"""Moderators audited over time, on recorded debates that were to decide something: no label, and so no known truth.

recorded.py    from the entries of one debate to what its moderator concluded, or why it counts nowhere
windows.py     a period in months or weeks
tally.py       counts by moderator, task type and window, in memory that does not grow with the debates
audit.py       the form of an audit
conclude.py    figures and findings from the counts
sentences.py   what is said of them
evaluations.py audits on golden pairs that were concluded in the same period
"""
