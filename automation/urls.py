"""Addresses of the workflow pages; everything below `builder` changes a draft."""

from django.urls import path

from automation import views
from automation.builder import changes, exchange_views, people, step_views, trial_views
from automation.builder import views as builder

app_name = "automation"
urlpatterns = [
    path("", views.workflow_list, name="list"),
    path("create", views.create, name="create"),
    path("preview", step_views.preview_text, name="preview"),
    path("people", people.people, name="people"),
    path("<int:pk>", views.detail, name="detail"),
    path("<int:pk>/name", views.rename, name="rename"),
    path("<int:pk>/versions/<int:number>", views.version, name="version"),
    path("<int:pk>/draft", views.new_draft, name="new-draft"),
    path("<int:pk>/publish", views.publish, name="publish"),
    path("<int:pk>/publish/plan", views.publish_plan, name="publish-plan"),
    path("<int:pk>/archive", views.archive, name="archive"),
    path("<int:pk>/restore", views.restore, name="restore"),
    path("<int:pk>/builder", builder.overview, name="builder"),
    path("<int:pk>/builder/canvas", builder.canvas, name="canvas"),
    path("<int:pk>/builder/settings", builder.settings, name="settings"),
    path("<int:pk>/builder/change", changes.change, name="change"),
    path("<int:pk>/builder/export", exchange_views.export, name="export"),
    path("<int:pk>/builder/read-in", exchange_views.read_in, name="read-in"),
    path("<int:pk>/builder/trial", trial_views.trial, name="trial"),
    path("<int:pk>/builder/steps/<str:key>", step_views.step, name="step"),
    path("<int:pk>/builder/steps/<str:key>/places", changes.places, name="places"),
]
