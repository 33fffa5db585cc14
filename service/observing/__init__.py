"""What an operator sees of a process: its metrics and its traces.

exposition       the metrics as text
labelled         metrics whose labels are declared; `service.telemetry` declares every one
process_metrics  those of a process, which `service.telemetry` has too
stacks           where a process stands, logged at SIGUSR1
trace_context    the trace that a request takes part in: W3C Trace Context
"""
