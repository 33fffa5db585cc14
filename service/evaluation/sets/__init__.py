"""Golden sets: folders of items with labels apart, read whole or refused with every fault, versioned by hash.

Read `reading` first: it lists the rules in their order. What renders a request may import `items` and no `labels`.
"""
