"""A campaign's messages are counted by status from the index alone: it names all that a count asks for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sms", "0109_retries_by_hand")]

    operations = [
        migrations.AddIndex(
            model_name="smslog",
            index=models.Index(
                fields=["campaign_id", "status", "workspace", "attempt_number"], name="sms_counted"
            ),
        ),
        migrations.RemoveIndex(model_name="smslog", name="sms_by_campaign"),
    ]
