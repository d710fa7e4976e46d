"""What adapters of hosted services share: the endpoint with its errors, retries, and the Cohere client."""
