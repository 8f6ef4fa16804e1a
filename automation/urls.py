"""Addresses of the workflow pages; everything below `builder` changes a draft."""

from django.urls import path

from automation import downloads, template_views, version_views, views
from automation.builder import (
    changes,
    exchange_views,
    longest_views,
    people,
    step_menu,
    step_numbers,
    step_views,
    trial_views,
)
from automation.builder import views as builder

app_name = "automation"
urlpatterns = [
    path("", views.workflow_list, name="list"),
    path("export.<slug:kind>", downloads.workflows, name="list-export"),
    path("create", views.create, name="create"),
    path("preview", step_views.preview_text, name="preview"),
    path("longest", longest_views.longest_text, name="longest"),
    path("people", people.people, name="people"),
    path("<int:pk>", views.detail, name="detail"),
    path("<int:pk>/name", views.rename, name="rename"),
    path("<int:pk>/versions/<int:number>", views.version, name="version"),
    path("<int:pk>/versions/<int:number>/archive", version_views.archive, name="version-archive"),
    path("<int:pk>/versions/<int:number>/restore", version_views.restore, name="version-restore"),
    path("<int:pk>/versions/<int:number>/template", template_views.save, name="save-template"),
    path("templates/<int:pk>/remove", template_views.remove, name="remove-template"),
    path("<int:pk>/changes", template_views.history, name="history"),
    path("<int:pk>/draft", views.new_draft, name="new-draft"),
    path("<int:pk>/publish/now", views.publish, name="publish"),
    path("<int:pk>/publish/plan", views.publish_plan, name="publish-plan"),
    path("<int:pk>/archive", views.archive, name="archive"),
    path("<int:pk>/restore", views.restore, name="restore"),
    path("<int:pk>/builder", builder.overview, name="builder"),
    path("<int:pk>/builder/canvas", builder.canvas, name="canvas"),
    path("<int:pk>/builder/list", builder.region, name="region"),
    path("<int:pk>/numbers", step_numbers.numbers, name="numbers"),
    path("<int:pk>/builder/settings", builder.settings, name="settings"),
    path("<int:pk>/builder/change", changes.change, name="change"),
    path("<int:pk>/builder/export", exchange_views.export, name="export"),
    path("<int:pk>/builder/read-in", exchange_views.read_in, name="read-in"),
    path("<int:pk>/builder/trial", trial_views.trial, name="trial"),
    path("<int:pk>/builder/steps/<str:key>", step_views.step, name="step"),
    path("<int:pk>/builder/steps/<str:key>/sheet", step_views.sheet, name="step-sheet"),
    path("<int:pk>/builder/steps/<str:key>/menu", step_menu.menu, name="step-menu"),
    path("<int:pk>/builder/steps/<str:key>/places", changes.places, name="places"),
]
