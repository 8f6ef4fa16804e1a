"""Rows that belong to the installation, not to a workspace."""

from django.db import models

from core.tenancy import UTCDateTimeField


class Heartbeat(models.Model):
    """The last sign of life of a process kind (`tick`, `queue`), seen by every process."""

    name = models.CharField(max_length=40, primary_key=True)
    at = UTCDateTimeField()
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name
