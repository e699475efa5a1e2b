"""The documents: what a receipt and a gate file say, read strictly."""
