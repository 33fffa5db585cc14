"""Finding a quotation in a document: windows, alignment, slips."""
