"""The plan of an evaluation: what is asked, of what, and how it will be judged, all written before the first call.

file (TOML)  ->  `read_plan`  ->  `Plan`  ->  `plan_hash`

model.py      the plan itself, in whole numbers, and its hash
reading.py    a file becomes a plan, or a refusal that lists all faults
tables.py     the members of a table of the file, each read once
arms.py       arms and comparisons
around.py     what a plan is held against: sets, models, pins, roles
rules.py      what must agree between the parts of a plan, and with what is around it
power.py      what the plan could see, computed before anything is asked
"""
