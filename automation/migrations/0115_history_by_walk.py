"""A person's history is read by their walks: an index of its own was one more page to write for every line."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("automation", "0114_paused_at_iff_paused")]

    operations = [
        migrations.RemoveIndex(model_name="workflowexecutionevent", name="event_of_subject"),
    ]
