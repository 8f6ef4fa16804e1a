"""From a file to people: store_upload, suggest_mapping, preview, start, run_import.

Nothing here knows of HTTP. The usual order, inside a workspace's scope:

    job = jobs.store_upload(file, user=user)
    jobs.start(job, mapping=mapping.suggest(job.columns), target_list=None, user=user)
    jobs.run_import(workspace_id=job.workspace_id, job_id=job.pk)   # what the background task does
"""
