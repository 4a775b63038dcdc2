"""OpenAI-compatible endpoints: requests, the store of paid responses, the client, prices."""
