"""The supply chain: what is locked, under which licences, with which known holes, and the list of it for an image."""
