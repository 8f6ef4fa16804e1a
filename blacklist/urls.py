"""Addresses of the block list."""

from django.urls import path

from blacklist import views

app_name = "blacklist"
urlpatterns = [
    path("", views.entry_list, name="list"),
    path("add/", views.add, name="add"),
    path("import/", views.import_file, name="import"),
    path("export.<str:kind>", views.export, name="export"),
    path("<int:entry_id>/deactivate/", views.deactivate, name="deactivate"),
    path("<int:entry_id>/reactivate/", views.reactivate, name="reactivate"),
]
