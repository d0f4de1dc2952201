"""`jsctl demo`, and the two documents as walkthroughs."""
