"""What an operator sees of a process: its metrics and its traces.

attributes       the names of what spans say
exposition       the metrics as text
labelled         metrics whose labels are declared; `service.telemetry` declares every one
otlp             where OpenTelemetry's variables send what is observed
process_metrics  those of a process, which `service.telemetry` has too
span             one span, and the ids that follow from names
stacks           where a process stands, logged at SIGUSR1
trace_context    the trace that a request takes part in: W3C Trace Context
tracing          which traces are kept, and the spans on their way to a collector
"""
