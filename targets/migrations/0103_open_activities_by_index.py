"""Lists of open activities come from an index alone: whose person was removed is said on the row."""

from django.conf import settings
from django.db import migrations, models

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("targets", "0102_activity_keys"),
        ("workspaces", "0102_sending_stopped"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="activity",
            name="activity_open_of_owner",
        ),
        migrations.RemoveIndex(
            model_name="activity",
            name="activity_open",
        ),
        migrations.AddField(
            model_name="activity",
            name="hidden_at",
            field=core.tenancy.UTCDateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="activity",
            index=models.Index(
                condition=models.Q(("done_at__isnull", True), ("hidden_at__isnull", True)),
                fields=["workspace", "owner", "due_at", "id"],
                name="activity_open_of_one",
            ),
        ),
        migrations.AddIndex(
            model_name="activity",
            index=models.Index(
                condition=models.Q(("done_at__isnull", True), ("hidden_at__isnull", True)),
                fields=["workspace", "due_at", "id"],
                name="activity_open_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="activity",
            index=models.Index(
                condition=models.Q(("done_at__isnull", False), ("hidden_at__isnull", True)),
                fields=["workspace", "-done_at", "-id"],
                name="activity_done",
            ),
        ),
    ]
