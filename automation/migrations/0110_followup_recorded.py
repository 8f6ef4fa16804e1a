"""The history can say that a follow-up was recorded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0109_walks_stay_theirs"),
    ]

    operations = [
        migrations.AlterField(
            model_name="workflowexecutionevent",
            name="type",
            field=models.CharField(
                choices=[
                    ("enrolled", "Entered the campaign"),
                    ("activated", "The campaign started"),
                    ("node_entered", "Reached a step"),
                    ("wait_started", "Wait began"),
                    ("wait_finished", "Wait ended"),
                    ("sms_attempt", "Message"),
                    ("followup", "Follow-up recorded for the owner"),
                    ("retry_scheduled", "Another try is planned"),
                    ("deferred_window", "Waits for the sending window"),
                    ("deferred_limit", "Waits for tomorrow's limit"),
                    ("deferred_provider", "Waits for the SMS channel"),
                    ("blacklisted", "Stopped: on the blacklist"),
                    ("skipped", "Step skipped"),
                    ("suppressed", "Held out: passed by without effect"),
                    ("paused", "Paused"),
                    ("resumed", "Resumed"),
                    ("removed", "Removed"),
                    ("restarted", "Started again"),
                    ("condition_evaluated", "Condition checked"),
                    ("recovered", "Taken back after an interruption"),
                    ("status_stop", "Stopped by the person's status"),
                    ("completed", "Completed"),
                    ("failed", "Failed"),
                    ("cancelled", "Cancelled"),
                    ("exited", "Left"),
                ],
                max_length=24,
            ),
        ),
    ]
