"""Adapters to SMS providers. A provider's words stop here; what leaves is `sms.types`."""
