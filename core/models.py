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


class Installation(models.Model):
    """The one row that says which installation this database belongs to (`core.installation`)."""

    id = models.PositiveSmallIntegerField(primary_key=True)  # always 1
    uid = models.UUIDField()
    stamp = models.CharField(max_length=200)
    adopted_at = UTCDateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="installation_one_row")]

    def __str__(self) -> str:
        return self.stamp


class ZoneRules(models.Model):
    """The one row that says by which edition of the zone rules waits for a local time were computed.

    `cursor`: the last execution that was looked at since the rules changed; null when all were.
    """

    id = models.PositiveSmallIntegerField(primary_key=True)  # always 1
    edition = models.CharField(max_length=20, blank=True)
    cursor = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="zone_rules_one_row")]

    def __str__(self) -> str:
        return self.edition
