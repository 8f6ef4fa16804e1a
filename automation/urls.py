"""Addresses of the workflow pages; everything below `builder` changes a draft."""

from django.urls import path

from automation import views
from automation.builder import views as builder

app_name = "automation"
urlpatterns = [
    path("", views.workflow_list, name="list"),
    path("create", views.create, name="create"),
    path("preview", builder.preview_text, name="preview"),
    path("<int:pk>", views.detail, name="detail"),
    path("<int:pk>/name", views.rename, name="rename"),
    path("<int:pk>/versions/<int:number>", views.version, name="version"),
    path("<int:pk>/draft", views.new_draft, name="new-draft"),
    path("<int:pk>/publish", views.publish, name="publish"),
    path("<int:pk>/archive", views.archive, name="archive"),
    path("<int:pk>/restore", views.restore, name="restore"),
    path("<int:pk>/builder", builder.overview, name="builder"),
    path("<int:pk>/builder/settings", builder.settings, name="settings"),
    path("<int:pk>/builder/add", builder.add, name="add-step"),
    path("<int:pk>/builder/steps/<str:key>", builder.step, name="step"),
    path("<int:pk>/builder/steps/<str:key>/remove", builder.remove, name="remove-step"),
]
