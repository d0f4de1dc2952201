"""Where jsctl differs from nats on purpose, and lines of scripts that this concerns."""
