"""What a system said: reading, checking, writing and importing prediction folders."""
