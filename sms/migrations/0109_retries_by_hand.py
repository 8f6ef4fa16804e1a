"""What support asked for is found without reading the messages."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sms", "0108_fewer_writes")]

    operations = [
        migrations.AddIndex(
            model_name="smslog",
            index=models.Index(
                condition=models.Q(("status", "retry_ready")),
                fields=["workspace", "id"],
                name="sms_retry_ready",
            ),
        ),
    ]
