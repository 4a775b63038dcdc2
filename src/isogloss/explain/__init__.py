"""Where does it fail: attributes of examples, buckets of them, and what a system is worth in each."""
