module verifier

go 1.21
