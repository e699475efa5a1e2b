"""What each kind of subject is checked for; pure functions, one room a subject."""
