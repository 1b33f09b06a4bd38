"""The dashboard: a person's view of the reporting API, as pages that a server writes. Imported only with a login."""
