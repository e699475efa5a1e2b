"""Who says so: keys, envelopes, bundles, chains; what each proves is a `Claim`."""
