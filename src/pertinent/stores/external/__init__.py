"""Read collections that another pipeline filled."""
