"""Signing in with a browser: OpenID Connect and sessions. Imported only where it is composed."""
