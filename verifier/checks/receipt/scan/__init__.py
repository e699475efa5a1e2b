"""What must not be published: looked for, and taken out."""
