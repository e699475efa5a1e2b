"""What is vouched for: the authenticated registry and its entries."""
