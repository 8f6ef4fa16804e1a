"""Addresses of people, lists and imports."""

from django.urls import path

from targets.views import activities, downloads, imports, lists, people

app_name = "targets"
urlpatterns = [
    path("", people.people_list, name="list"),
    path("export.<slug:kind>", downloads.people, name="export"),
    path("new/", people.create, name="new"),
    path("selection/", lists.selection, name="selection"),
    path("<int:target_id>/", people.detail, name="detail"),
    path("<int:target_id>/edit/", people.edit, name="edit"),
    path("<int:target_id>/delete/", people.delete, name="delete"),
    path("<int:target_id>/lists/", people.set_list, name="set-list"),
    path("<int:target_id>/block/", people.block, name="block"),
    path("<int:target_id>/unblock/", people.unblock, name="unblock"),
    path("<int:target_id>/activities/new/", activities.create, name="activity-new"),
    path("activities/", activities.activity_list, name="activities"),
    path("activities/export.<slug:kind>", downloads.activities, name="activities-export"),
    path("activities/<int:activity_id>/edit/", activities.edit, name="activity-edit"),
    path("activities/<int:activity_id>/done/", activities.done, name="activity-done"),
    path("activities/<int:activity_id>/reopen/", activities.reopen, name="activity-reopen"),
    path("lists/", lists.list_of_lists, name="lists"),
    path("lists/export.<slug:kind>", downloads.lists, name="lists-export"),
    path("lists/new/", lists.create, name="list-new"),
    path("lists/<int:list_id>/edit/", lists.edit, name="list-edit"),
    path("lists/<int:list_id>/delete/", lists.delete, name="list-delete"),
    path("imports/", imports.history, name="imports"),
    path("imports/export.<slug:kind>", downloads.imports, name="imports-export"),
    path("imports/new/", imports.upload, name="import-new"),
    path("imports/<int:job_id>/", imports.show, name="import"),
    path("imports/<int:job_id>/preview/", imports.preview, name="import-preview"),
    path("imports/<int:job_id>/start/", imports.start, name="import-start"),
    path("imports/<int:job_id>/resume/", imports.resume, name="import-resume"),
    path("imports/<int:job_id>/discard/", imports.discard, name="import-discard"),
    path("imports/<int:job_id>/progress/", imports.progress, name="import-progress"),
    path("imports/<int:job_id>/refused.xlsx", imports.refused_file, name="import-refused"),
]
