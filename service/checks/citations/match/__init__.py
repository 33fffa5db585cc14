"""Where a quotation stands in a document: windows, alignment, slips."""
