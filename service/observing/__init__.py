"""What an operator sees of a process: its metrics and its traces.

exposition     the metrics as text
labelled       metrics whose labels are declared; `service.telemetry` declares every one
trace_context  the trace that a request takes part in: W3C Trace Context
"""
